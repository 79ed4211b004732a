import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AttachmentDigest } from '../../src/security/attachment-digest.js';
import { canonicalHeaders } from '../../src/security/mime-headers.js';

/** The wanted forms are what WSS4J's AttachmentUtils makes of these fields. */
describe('header fields under the complete transform', () => {
  it('are sorted, stripped and quoted as WSS4J does it', () => {
    expect(canonicalHeaders([
      ['TestHeader', 'testHeaderValue'], ['Content-Type', 'text/xml; charset=UTF-8'], ['content-id', '<attachment=1>'],
      ['Content-Location', 'http://ws.apache.org'], ['Content-Description', 'Attachment'],
      ['Content-Disposition', 'attachment; filename="fname.ext"'],
    ])).toBe('Content-Description:Attachment\r\nContent-Disposition:attachment;filename="fname.ext"\r\nContent-ID:<attachment=1>\r\n'
      + 'Content-Location:http://ws.apache.org\r\nContent-Type:text/xml;charset="utf-8"\r\n');
  });

  it.each([
    ['X-Other', 'x', ''],
    ['Content-Location', 'http://x/(a(b)c)y', 'Content-Location:http://x/y\r\n'],
    ['Content-Description', '=?UTF-8?Q?caf=C3=A9?= =?utf-8?B?w7w=?=', 'Content-Description:caf\u00e9 \u00fc\r\n'],
    ['Content-Disposition', 'ATTACHMENT; Size=10; FileName*=UTF-8\'\'A%20B; Name="x\\"y\\\\z;"', 'Content-Disposition:attachment;filename="a b";name="x\\"y\\\\z;";size="10"\r\n'],
  ])('%s: %s', (name, value, wanted) => {
    expect(canonicalHeaders([[name, value]])).toBe(`${wanted}Content-Type:text/plain;charset="us-ascii"\r\n`);
  });

  it('that cannot have been signed have no form', () => {
    expect(canonicalHeaders([['Content-ID', '<a>'], ['content-id', '<b>']])).toBeUndefined();
    expect(canonicalHeaders([['Content-Type', 'text/plain; charset']])).toBeUndefined();
    expect(canonicalHeaders([['Content-Type', 'text/plain; a=1; A=2']])).toBeUndefined();
    expect(canonicalHeaders([['Content-Type', 'text/plain; a*0=1; a*1=2']])).toBeUndefined();
  });

  it('stand before the content in the digest', () => {
    const before = canonicalHeaders([['Content-Type', 'application/xml']]) ?? '';
    const digest = createHash('sha256').update(`${before}<a b="1"></a>`).digest();
    const check = new AttachmentDigest({ contentId: 'a', uri: 'cid:a', transform: 'attachmentComplete', digestMethod: '', hash: 'sha256', digest }, 'application/xml', before);
    check.update(Buffer.from('<?xml version="1.0"?><a  b=\'1\'/>'));
    expect(check.matches()).toBe(true);
  });
});
