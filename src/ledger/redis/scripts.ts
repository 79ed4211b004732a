import { createHash } from 'node:crypto';
import { HEAD } from '../codec.js';

export interface Script {
  readonly body: string;
  readonly sha: string;
}

const script = (body: string): Script => ({ body, sha: createHash('sha1').update(body).digest('hex') });

const { version, copies, lastSeen, leaseUntil } = HEAD;
/** Lua counts from 1. */
const luaRange = ({ at, width }: { at: number; width: number }): string => `${at + 1}, ${at + width}`;

/**
 * Compare-and-set of one record, judged by the client (transition.ts) and guarded here by version and time.
 *
 *   KEYS  1 record · 2 small index · 3 settle counter (one slot)
 *   ARGV  1 expected version, '-' for no record, '!' for only looking
 *         2 new value · 3 kept until, ms
 *         4 the time the client judged by, ms: a lower bound of this clock · 5 how much later it may be, ms
 *         6 index: '+' '-' or '' · 7 member of the index · 8 not executed after, ms, or 0
 *         9 copies to add to those that stand, or '=' to keep the value's own
 *        10 flags: c count a copy where another record stands, s count a settle, p publish
 *        11 token, whose own copy is never counted · 12 channel · 13 message
 *   Reply {code, now, standing value or nil, counted; where written, the copies it has now}
 *         code 0 written · 1 another record stands · 2 judged by another time · 3 too late
 */
const SWAP = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local standing = redis.call('GET', KEYS[1])
local found = '-'
if standing then found = string.sub(standing, ${luaRange(version)}) end
if found ~= ARGV[1] then
  local counted = 0
  local copies = standing and string.sub(standing, 1, 3) == '${HEAD.magic}' and tonumber(string.sub(standing, ${luaRange(copies)}))
  if copies and string.find(ARGV[10], 'c', 1, true)
      and not string.find(standing, '"token":"' .. ARGV[11] .. '"', 1, true) then
    local count = string.format('%0${copies.width}d', copies + 1)
        .. string.format('%0${lastSeen.width}d', now)
    local done = redis.pcall('SETRANGE', KEYS[1], ${copies.at}, count)
    if type(done) == 'table' and done.err and string.sub(done.err, 1, 3) ~= 'OOM' and string.sub(done.err, 1, 4) ~= '-OOM' then
      return done
    end
    standing = string.sub(standing, 1, ${copies.at}) .. count .. string.sub(standing, ${leaseUntil.at + 1})
    counted = 1
  end
  return {1, now, standing, counted}
end
if tonumber(ARGV[8]) > 0 and now > tonumber(ARGV[8]) then return {3, now, false, 0} end
if now < tonumber(ARGV[4]) or now > tonumber(ARGV[4]) + tonumber(ARGV[5]) then return {2, now, standing, 0} end
local value = ARGV[2]
local all = tonumber(string.sub(value, ${luaRange(copies)}))
if standing and ARGV[9] ~= '=' then
  local seen = string.sub(standing, ${luaRange(lastSeen)})
  local own = string.sub(value, ${luaRange(lastSeen)})
  if own > seen then seen = own end
  all = tonumber(string.sub(standing, ${luaRange(copies)})) + tonumber(ARGV[9])
  value = string.sub(value, 1, ${copies.at}) .. string.format('%0${copies.width}d', all) .. seen
      .. string.sub(value, ${leaseUntil.at + 1})
end
redis.call('SET', KEYS[1], value, 'PXAT', ARGV[3])
if ARGV[6] == '+' then redis.call('ZADD', KEYS[2], ARGV[3], ARGV[7]) end
if ARGV[6] == '-' then redis.call('ZREM', KEYS[2], ARGV[7]) end
if string.find(ARGV[10], 's', 1, true) then redis.call('INCR', KEYS[3]) end
if string.find(ARGV[10], 'p', 1, true) then redis.call('PUBLISH', ARGV[12], ARGV[13]) end
return {0, now, false, all}
`;

/** New claims: refused by a full server (OOM at its first write). */
export const CLAIM = script(SWAP);
/** Everything else must fit on a full server too (Redis 7: a script may say so). */
export const SWAP_ALWAYS = script(`#!lua flags=allow-oom${SWAP}`);

/** KEYS records. Reply {now, value or nil, …}. A script, so that no client sends it to a replica. */
export const READ = script(`
local time = redis.call('TIME')
local reply = {time[1] * 1000 + math.floor(time[2] / 1000)}
for i, key in ipairs(KEYS) do reply[i + 1] = redis.call('GET', key) end
return reply
`);

/** KEYS 1 small index. ARGV 1 first rank, 2 last rank. Forgets what has expired; reply: members. */
export const INDEX = script(`#!lua flags=allow-oom
local time = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time[1] * 1000)
return redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2])
`);

/** KEYS 1 the ledger's facts. ARGV name, value pairs to write where the name has none. Reply: all of them. */
export const FOUND = script(`
for i = 1, #ARGV, 2 do redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1]) end
return redis.call('HGETALL', KEYS[1])
`);

/** KEYS 1 the ledger's facts. ARGV name, value pairs. */
export const STATE = script(`#!lua flags=allow-oom
redis.call('HSET', KEYS[1], unpack(ARGV))
return redis.call('HGETALL', KEYS[1])
`);

/**
 * KEYS 1 a shelf of notes. ARGV 1 keptMs · 2 keptMs and what it may be put off by · 3 how many names are removed · those
 * names · name, text pairs.
 */
export const NOTE = script(`#!lua flags=allow-oom
local removed = tonumber(ARGV[3])
for i = 4, 3 + removed do redis.call('HDEL', KEYS[1], ARGV[i]) end
for i = 4 + removed, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
`);

/** KEYS 1 a shelf of notes. Reply: names and texts. */
export const NOTES = script(`
return redis.call('HGETALL', KEYS[1])
`);

/** KEYS settle counters. Reply: their values. */
export const COUNTS = script(`
return redis.call('MGET', unpack(KEYS))
`);
