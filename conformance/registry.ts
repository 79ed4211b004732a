import { requirement as boundsIdleConnections } from './requirements/bounds/idle-connections.js';
import { requirement as boundsLarge } from './requirements/bounds/large.js';
import { requirement as boundsMany } from './requirements/bounds/many.js';
import { requirement as boundsSlow } from './requirements/bounds/slow.js';
import { requirement as duplicateAfterWindow } from './requirements/duplicate/after-window.js';
import { requirement as duplicateAnswer } from './requirements/duplicate/answer.js';
import { requirement as duplicateCaseDiffers } from './requirements/duplicate/case-differs.js';
import { requirement as duplicateDigestsOfOriginal } from './requirements/duplicate/digests-of-original.js';
import { requirement as duplicateFiveCopies } from './requirements/duplicate/five-copies.js';
import { requirement as duplicateIdenticalAfterRestart } from './requirements/duplicate/identical-after-restart.js';
import { requirement as duplicateIdenticalResigned } from './requirements/duplicate/identical-resigned.js';
import { requirement as duplicateIdentical } from './requirements/duplicate/identical.js';
import { requirement as duplicateKilled } from './requirements/duplicate/killed.js';
import { requirement as duplicateNewBoundary } from './requirements/duplicate/new-boundary.js';
import { requirement as duplicateNewConversation } from './requirements/duplicate/new-conversation.js';
import { requirement as duplicateNewFraming } from './requirements/duplicate/new-framing.js';
import { requirement as duplicateNewId } from './requirements/duplicate/new-id.js';
import { requirement as duplicateNewPartId } from './requirements/duplicate/new-part-id.js';
import { requirement as duplicateNewTimestamp } from './requirements/duplicate/new-timestamp.js';
import { requirement as duplicatePing } from './requirements/duplicate/ping.js';
import { requirement as duplicateReencrypted } from './requirements/duplicate/reencrypted.js';
import { requirement as duplicateResigned } from './requirements/duplicate/resigned.js';
import { requirement as duplicateRestart } from './requirements/duplicate/restart.js';
import { requirement as duplicateSameBytes } from './requirements/duplicate/same-bytes.js';
import { requirement as duplicateWithinWindow } from './requirements/duplicate/within-window.js';
import { requirement as envelopeByteOrderMark } from './requirements/envelope/byte-order-mark.js';
import { requirement as envelopeCdata } from './requirements/envelope/cdata.js';
import { requirement as envelopeDefaultNamespace } from './requirements/envelope/default-namespace.js';
import { requirement as envelopeMessageIdSpelling } from './requirements/envelope/message-id-spelling.js';
import { requirement as envelopeNoDeclaration } from './requirements/envelope/no-declaration.js';
import { requirement as envelopePrefixes } from './requirements/envelope/prefixes.js';
import { requirement as envelopeWhiteSpace } from './requirements/envelope/white-space.js';
import { requirement as failureDuplicateWhileStoreDown } from './requirements/failure/duplicate-while-store-down.js';
import { requirement as failureRetryAfterRefusal } from './requirements/failure/retry-after-refusal.js';
import { requirement as failureStoreDown } from './requirements/failure/store-down.js';
import { requirement as forgedBadSignatureError } from './requirements/forged/bad-signature-error.js';
import { requirement as forgedBadSignature } from './requirements/forged/bad-signature.js';
import { requirement as forgedCorruptFirst } from './requirements/forged/corrupt-first.js';
import { requirement as forgedHalfOpenFirst } from './requirements/forged/half-open-first.js';
import { requirement as forgedOtherContent } from './requirements/forged/other-content.js';
import { requirement as forgedOtherSender } from './requirements/forged/other-sender.js';
import { requirement as forgedPartNotSigned } from './requirements/forged/part-not-signed.js';
import { requirement as forgedPayloadChanged } from './requirements/forged/payload-changed.js';
import { requirement as forgedReceiptForOtherContent } from './requirements/forged/receipt-for-other-content.js';
import { requirement as forgedReceiptLeaked } from './requirements/forged/receipt-leaked.js';
import { requirement as forgedReplayedHeader } from './requirements/forged/replayed-header.js';
import { requirement as forgedStrangerFirst } from './requirements/forged/stranger-first.js';
import { requirement as forgedUnsignedFirst } from './requirements/forged/unsigned-first.js';
import { requirement as forgedUnsigned } from './requirements/forged/unsigned.js';
import { requirement as hostileDoctype } from './requirements/hostile/doctype.js';
import { requirement as hostileDuplicateIds } from './requirements/hostile/duplicate-ids.js';
import { requirement as hostileElementsInId } from './requirements/hostile/elements-in-id.js';
import { requirement as hostileEmptyId } from './requirements/hostile/empty-id.js';
import { requirement as hostileIdInInstruction } from './requirements/hostile/id-in-instruction.js';
import { requirement as hostileIllFormed } from './requirements/hostile/ill-formed.js';
import { requirement as hostileLongId } from './requirements/hostile/long-id.js';
import { requirement as hostileNoMessageInfo } from './requirements/hostile/no-message-info.js';
import { requirement as hostileNotUtf8 } from './requirements/hostile/not-utf8.js';
import { requirement as hostileProcessingInstruction } from './requirements/hostile/processing-instruction.js';
import { requirement as hostileTwoHeaders } from './requirements/hostile/two-headers.js';
import { requirement as hostileTwoUserMessages } from './requirements/hostile/two-user-messages.js';
import { requirement as hostileWrapped } from './requirements/hostile/wrapped.js';
import { requirement as lostCutInClosing } from './requirements/lost/cut-in-closing.js';
import { requirement as lostCutInHeader } from './requirements/lost/cut-in-header.js';
import { requirement as lostCutInPayload } from './requirements/lost/cut-in-payload.js';
import { requirement as lostCutLastLineEnd } from './requirements/lost/cut-last-line-end.js';
import { requirement as lostLeftEarly } from './requirements/lost/left-early.js';
import { requirement as lostReceiptAfterLoss } from './requirements/lost/receipt-after-loss.js';
import { requirement as lostResetInPayload } from './requirements/lost/reset-in-payload.js';
import { requirement as lostUnclosedPackage } from './requirements/lost/unclosed-package.js';
import { requirement as packagingBoundaryCharacters } from './requirements/packaging/boundary-characters.js';
import { requirement as packagingCase } from './requirements/packaging/case.js';
import { requirement as packagingCharsetParameter } from './requirements/packaging/charset-parameter.js';
import { requirement as packagingChunked } from './requirements/packaging/chunked.js';
import { requirement as packagingContentEncoding } from './requirements/packaging/content-encoding.js';
import { requirement as packagingExpect } from './requirements/packaging/expect.js';
import { requirement as packagingFolded } from './requirements/packaging/folded.js';
import { requirement as packagingLeadingLineEnd } from './requirements/packaging/leading-line-end.js';
import { requirement as packagingLengthAndChunked } from './requirements/packaging/length-and-chunked.js';
import { requirement as packagingLength } from './requirements/packaging/length.js';
import { requirement as packagingLineFeed } from './requirements/packaging/line-feed.js';
import { requirement as packagingNoStart } from './requirements/packaging/no-start.js';
import { requirement as packagingNoType } from './requirements/packaging/no-type.js';
import { requirement as packagingNotSoap } from './requirements/packaging/not-soap.js';
import { requirement as packagingPadding } from './requirements/packaging/padding.js';
import { requirement as packagingParameterOrder } from './requirements/packaging/parameter-order.js';
import { requirement as packagingPreamble } from './requirements/packaging/preamble.js';
import { requirement as packagingRootWithoutId } from './requirements/packaging/root-without-id.js';
import { requirement as packagingSpacing } from './requirements/packaging/spacing.js';
import { requirement as packagingStartElsewhere } from './requirements/packaging/start-elsewhere.js';
import { requirement as packagingStart } from './requirements/packaging/start.js';
import { requirement as packagingTinyChunks } from './requirements/packaging/tiny-chunks.js';
import { requirement as packagingTwoLengths } from './requirements/packaging/two-lengths.js';
import { requirement as packagingUnknownHeaders } from './requirements/packaging/unknown-headers.js';
import { requirement as packagingUnquotedBoundary } from './requirements/packaging/unquoted-boundary.js';
import { requirement as payloadBrokenGzip } from './requirements/payload/broken-gzip.js';
import { requirement as payloadCanonical } from './requirements/payload/canonical.js';
import { requirement as payloadExternal } from './requirements/payload/external.js';
import { requirement as payloadGzipDamaged } from './requirements/payload/gzip-damaged.js';
import { requirement as payloadMissingPart } from './requirements/payload/missing-part.js';
import { requirement as payloadNoMimeType } from './requirements/payload/no-mime-type.js';
import { requirement as payloadSeveral } from './requirements/payload/several.js';
import { requirement as payloadUncompressed } from './requirements/payload/uncompressed.js';
import { requirement as payloadUnlistedPart } from './requirements/payload/unlisted-part.js';
import { requirement as payloadUntypedProperties } from './requirements/payload/untyped-properties.js';
import { requirement as payloadWrongOrder } from './requirements/payload/wrong-order.js';
import { requirement as raceDistinct } from './requirements/race/distinct.js';
import { requirement as raceHundred } from './requirements/race/hundred.js';
import { requirement as raceInFlightAnswer } from './requirements/race/in-flight-answer.js';
import { requirement as raceInFlightFails } from './requirements/race/in-flight-fails.js';
import { requirement as raceRebuilt } from './requirements/race/rebuilt.js';
import { requirement as raceSameAnswer } from './requirements/race/same-answer.js';
import { requirement as raceSlowBackendOnce } from './requirements/race/slow-backend-once.js';
import { requirement as raceTwenty } from './requirements/race/twenty.js';
import { requirement as raceTwoAddresses } from './requirements/race/two-addresses.js';
import { requirement as raceTwo } from './requirements/race/two.js';
import { requirement as receiptAnswered } from './requirements/receipt/answered.js';
import { requirement as receiptBare } from './requirements/receipt/bare.js';
import { requirement as receiptDeliveryFailure } from './requirements/receipt/delivery-failure.js';
import { requirement as receiptDigests } from './requirements/receipt/digests.js';
import { requirement as receiptErrorReference } from './requirements/receipt/error-reference.js';
import { requirement as receiptEveryMessage } from './requirements/receipt/every-message.js';
import { requirement as receiptNotWhenRefused } from './requirements/receipt/not-when-refused.js';
import { requirement as receiptOwnId } from './requirements/receipt/own-id.js';
import { requirement as receiptReferencesOnly } from './requirements/receipt/references-only.js';
import { requirement as receiptSignatureVerifies } from './requirements/receipt/signature-verifies.js';
import { requirement as receiptSigned } from './requirements/receipt/signed.js';
import { requirement as receiptSoapVersion } from './requirements/receipt/soap-version.js';
import { requirement as receiptSoap11 } from './requirements/receipt/soap11.js';
import { requirement as receiptTimestamp } from './requirements/receipt/timestamp.js';
import type { Requirement } from './run/requirement.js';

/**
 * Every requirement, in the order in which they run and are reported. The suite's own test compares it with the
 * folder.
 */
export const REQUIREMENTS: readonly Requirement[] = [
  // receipt
  receiptAnswered,
  receiptSoapVersion,
  receiptEveryMessage,
  receiptNotWhenRefused,
  receiptSigned,
  receiptDigests,
  receiptSignatureVerifies,
  receiptReferencesOnly,
  receiptSoap11,
  receiptBare,
  receiptOwnId,
  receiptTimestamp,
  receiptErrorReference,
  receiptDeliveryFailure,
  // packaging
  packagingNotSoap,
  packagingChunked,
  packagingTinyChunks,
  packagingCase,
  packagingSpacing,
  packagingParameterOrder,
  packagingCharsetParameter,
  packagingUnquotedBoundary,
  packagingBoundaryCharacters,
  packagingPreamble,
  packagingLeadingLineEnd,
  packagingPadding,
  packagingLineFeed,
  packagingNoStart,
  packagingStart,
  packagingRootWithoutId,
  packagingNoType,
  packagingStartElsewhere,
  packagingFolded,
  packagingUnknownHeaders,
  packagingExpect,
  packagingContentEncoding,
  packagingLength,
  packagingTwoLengths,
  packagingLengthAndChunked,
  // envelope
  envelopeWhiteSpace,
  envelopeCdata,
  envelopeMessageIdSpelling,
  envelopeNoDeclaration,
  envelopeByteOrderMark,
  envelopePrefixes,
  envelopeDefaultNamespace,
  // payload
  payloadGzipDamaged,
  payloadMissingPart,
  payloadUnlistedPart,
  payloadUncompressed,
  payloadCanonical,
  payloadSeveral,
  payloadExternal,
  payloadUntypedProperties,
  payloadNoMimeType,
  payloadBrokenGzip,
  payloadWrongOrder,
  // duplicate
  duplicateSameBytes,
  duplicateFiveCopies,
  duplicateResigned,
  duplicateReencrypted,
  duplicateNewBoundary,
  duplicateNewFraming,
  duplicateNewTimestamp,
  duplicateNewPartId,
  duplicateNewId,
  duplicateRestart,
  duplicateKilled,
  duplicateWithinWindow,
  duplicateDigestsOfOriginal,
  duplicateCaseDiffers,
  duplicatePing,
  duplicateNewConversation,
  duplicateAnswer,
  duplicateIdentical,
  duplicateIdenticalResigned,
  duplicateIdenticalAfterRestart,
  duplicateAfterWindow,
  // lost
  lostLeftEarly,
  lostReceiptAfterLoss,
  lostUnclosedPackage,
  lostCutInHeader,
  lostCutInPayload,
  lostCutInClosing,
  lostResetInPayload,
  lostCutLastLineEnd,
  // race
  raceTwo,
  raceTwenty,
  raceHundred,
  raceRebuilt,
  raceTwoAddresses,
  raceSlowBackendOnce,
  raceDistinct,
  raceInFlightAnswer,
  raceInFlightFails,
  raceSameAnswer,
  // failure
  failureDuplicateWhileStoreDown,
  failureRetryAfterRefusal,
  failureStoreDown,
  // forged
  forgedReceiptLeaked,
  forgedReceiptForOtherContent,
  forgedBadSignature,
  forgedBadSignatureError,
  forgedUnsigned,
  forgedPayloadChanged,
  forgedPartNotSigned,
  forgedOtherContent,
  forgedCorruptFirst,
  forgedUnsignedFirst,
  forgedStrangerFirst,
  forgedHalfOpenFirst,
  forgedReplayedHeader,
  forgedOtherSender,
  // hostile
  hostileWrapped,
  hostileDuplicateIds,
  hostileTwoHeaders,
  hostileEmptyId,
  hostileElementsInId,
  hostileNoMessageInfo,
  hostileLongId,
  hostileTwoUserMessages,
  hostileDoctype,
  hostileProcessingInstruction,
  hostileIdInInstruction,
  hostileIllFormed,
  hostileNotUtf8,
  // bounds
  boundsMany,
  boundsLarge,
  boundsSlow,
  boundsIdleConnections,
];
