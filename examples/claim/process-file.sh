#!/bin/sh
# A gateway's own pipeline: takes one file, processes it once, and puts its acknowledgement out.
# The last line of output says what happened; exit code 0 where the file needs no more attention.
file=$1
once() { node ../../dist/src/cli/main.js "$@" --config edi.yaml; }

token=$(once claim "$file" --for 15m --ack ack.again)
case $? in
  0) ;;
  10) [ -s ack.again ] && cp ack.again "sent/$(basename "$file").contrl"
      echo "duplicate"; exit 0 ;;
  11) echo "number reused or held: for an operator"; exit 11 ;;
  12) echo "in work elsewhere: later"; exit 12 ;;
  20) echo "cannot be read"; exit 20 ;;
  75) echo "ledger not reached: later"; exit 75 ;;
  *)  echo "claim failed"; exit 1 ;;
esac

# the pipeline itself; what it answers tells whether the file was taken
cp "$file" "booked/$(date +%s)-$$-$(basename "$file")"
if [ $? -ne 0 ]; then
  once release --token "$token" --outcome rejected --reason 'could not be booked'
  exit 1
fi
cp contrl-4711.edi "sent/$(basename "$file").contrl"
once settle --token "$token" --ack contrl-4711.edi
echo "first copy: booked"
