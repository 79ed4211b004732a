import { describe, expect, it } from 'vitest';
import { percentEncode, replyHeaders, requestHeaders } from '../../src/delivery/headers.js';
import type { HeaderList } from '../../src/exchange.js';

const request = (headers: HeaderList, more: Partial<Parameters<typeof requestHeaders>[0]> = {}) =>
  requestHeaders({ headers, length: 5, peer: '192.0.2.7', host: 'ap:8081', ...more });
const names = (list: HeaderList): string[] => list.map(([name]) => name.toLowerCase());
const values = (list: HeaderList, name: string): string[] => list.filter(([n]) => n.toLowerCase() === name).map(([, value]) => value);

describe('to the upstream', () => {
  it('go all end-to-end fields, in order and spelling, repeated ones too', () => {
    const list = request([['Content-Type', 'text/xml; a="b"'], ['SOAPAction', '""'], ['X-A', '1'], ['x-a', '2'], ['Message-Id', '<1@x>'], ['Content-Encoding', 'gzip']]);
    expect(list.slice(0, 7)).toEqual([['Host', 'ap:8081'], ['Content-Type', 'text/xml; a="b"'], ['SOAPAction', '""'], ['X-A', '1'], ['x-a', '2'], ['Message-Id', '<1@x>'], ['Content-Encoding', 'gzip']]);
  });

  it.each(['Connection', 'Keep-Alive', 'Proxy-Connection', 'Proxy-Authorization', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade', 'Expect'])('%s does not', (name) => {
    expect(names(request([[name, 'x'], ['Content-Type', 'text/xml']]))).not.toContain(name.toLowerCase());
  });

  it('what Connection names does not, over several fields and in any spelling', () => {
    const list = request([['Connection', 'close, X-Hop'], ['connection', ' x-other '], ['x-hop', '1'], ['X-Other', '2'], ['X-Stays', '3']]);
    expect(names(list)).toContain('x-stays');
    expect(names(list)).not.toContain('x-hop');
    expect(names(list)).not.toContain('x-other');
  });

  it('Connection cannot make the upstream read the body differently than we did, nor drop what we set', () => {
    const list = request([['Connection', 'content-type, content-encoding, content-length, as4-once-copy, x-forwarded-for'], ['Content-Type', 'text/xml'], ['Content-Encoding', 'gzip']], { mark: 'first' });
    expect(names(list)).toEqual(expect.arrayContaining(['content-type', 'content-encoding', 'content-length', 'as4-once-copy', 'x-forwarded-for']));
  });

  it('Content-Length is that of the stored body, whatever was said', () => {
    expect(values(request([['Content-Length', '99'], ['content-length', '1']]), 'content-length')).toEqual(['5']);
    expect(values(request([['Content-Length', '99']], { length: undefined }), 'content-length')).toEqual([]);
  });

  it('no content coding is asked for', () => {
    expect(values(request([['Accept-Encoding', 'gzip'], ['accept-encoding', 'br']]), 'accept-encoding')).toEqual(['identity']);
  });

  it('marks from outside are stripped, ours are set', () => {
    const spoofed: HeaderList = [['As4-Once-Copy', 'first'], ['as4-once-first', 'x'], ['AS4-ONCE-ANSWER', 'replay'], ['As4-Once-Whatever', '1']];
    expect(names(request(spoofed)).filter((name) => name.startsWith('as4-once'))).toEqual([]);
    const marked = request(spoofed, { mark: 'redelivery', firstId: 'a b@"ü"\r\nX: 1' });
    expect(values(marked, 'as4-once-copy')).toEqual(['redelivery']);
    expect(values(marked, 'as4-once-first')).toEqual(['a%20b%40%22%C3%BC%22%0D%0AX%3A%201']);
  });

  it('the peer is appended to X-Forwarded-For, once', () => {
    expect(values(request([]), 'x-forwarded-for')).toEqual(['192.0.2.7']);
    expect(values(request([['X-Forwarded-For', '10.0.0.1'], ['x-forwarded-for', '10.0.0.2, 10.0.0.3']]), 'x-forwarded-for')).toEqual(['10.0.0.1, 10.0.0.2, 10.0.0.3, 192.0.2.7']);
    expect(values(request([['X-Forwarded-For', '10.0.0.1, 192.0.2.7']]), 'x-forwarded-for')).toEqual(['10.0.0.1, 192.0.2.7']);
  });

  it('Host is the upstream\'s, or the sender\'s with preserveHost', () => {
    expect(values(request([['host', 'public.example']]), 'host')).toEqual(['ap:8081']);
    expect(values(request([['host', 'public.example']], { host: undefined }), 'host')).toEqual(['public.example']);
  });
});

describe('to the sender', () => {
  it('go Content-Type and end-to-end fields, without length, date and hops', () => {
    const list = replyHeaders([['Content-Type', 'text/xml'], ['Content-Length', '3'], ['Date', 'x'], ['Connection', 'keep-alive, X-Hop'], ['X-Hop', '1'], ['Keep-Alive', 'timeout=5'], ['Transfer-Encoding', 'chunked'], ['Retry-After', '9'], ['Set-Cookie', 'a'], ['Set-Cookie', 'b']], false);
    expect(list).toEqual([['Content-Type', 'text/xml'], ['Retry-After', '9'], ['Set-Cookie', 'a'], ['Set-Cookie', 'b']]);
  });
  it('Content-Encoding goes where the coding was left on', () => {
    expect(names(replyHeaders([['Content-Encoding', 'gzip']], true))).toEqual([]);
    expect(names(replyHeaders([['Content-Encoding', 'gzip']], false))).toEqual(['content-encoding']);
  });
  it('an access point cannot say that its answer is a replay of ours', () => {
    expect(replyHeaders([['As4-Once-Answer', 'replay']], false)).toEqual([]);
  });
});

it('percentEncode keeps unreserved characters and nothing else, and survives half a character', () => {
  expect(percentEncode('Aa0-._~')).toBe('Aa0-._~');
  expect(percentEncode('%/ é\uD800')).toBe('%25%2F%20%C3%A9%EF%BF%BD');
});
