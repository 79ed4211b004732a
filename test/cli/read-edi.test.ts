import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, describe } from 'vitest';
import { main } from '../../src/cli/main.js';
import { claimFor } from '../../src/delivery/claim.js';
import { messageOf } from '../../src/edi/message-of.js';
import { interchangesOf } from '../../src/edi/read-interchanges.js';
import { keysOf } from '../../src/compose-keys.js';
import { loadConfig } from '../../src/config/load.js';
import { lmdbLedger } from '../../src/ledger/embedded/index.js';
import { thisProcess } from '../../src/ledger/owner.js';
import { compileRules, selectRule } from '../../src/policy/select.js';
import { storeReply } from '../../src/receipt/stored-reply.js';
import { sbd } from '../edi/samples.js';
import { runCli } from '../support/child.js';
import { tempDir } from '../support/temp-dir.js';

const ORDERS = "UNB+UNOC:3+4012345000009:14+4012345000016:14+240229:1305+REF1++ORDERS'UNH+1+ORDERS:D:96A:UN'BGM+220+1'UNT+3+1'UNZ+1+REF1'";
const ISA = 'ISA*00*          *00*          *01*049351117      *ZZ*RECEIVER       *240229*1305*^*00501*000000007*0*P*:~TA1*000000006*240228*1200*A*000~IEA*0*000000007~';

describe('read: EDI files with key, rule and what would happen now', () => {
  it('shows key parts, fingerprint and window of each interchange, without a configuration', async () => {
    const { path: folder } = tempDir();
    const file = join(folder, 'two.edi');
    writeFileSync(file, `${ORDERS}\r\n${ORDERS.replaceAll('REF1', 'REF2')}`);
    const { code, stdout } = await runCli(['read', file, '--json']);
    const { interchanges } = JSON.parse(stdout) as { interchanges: { key: string; keyParts: object; window: string; now?: string }[] };
    expect(code).toBe(0);
    expect(interchanges.map(({ keyParts }) => keyParts)).toMatchObject([{ reference: 'REF1', protocol: 'edifact' }, { reference: 'REF2' }]);
    expect(new Set(interchanges.map(({ key }) => key)).size).toBe(2);
    expect(interchanges.every(({ window, now }) => window === '90d' && now === undefined)).toBe(true);
  });

  it('says of a plain business document that it has no header to be known by', async () => {
    // only "category: sbdh" was said, of a document without any SBDH
    const file = join(tempDir().path, 'order.xml');
    writeFileSync(file, '<Order xmlns="urn:oasis:names:specification:ubl:schema:xsd:Order-2"><ID xmlns="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">34</ID></Order>');
    const { stdout } = await runCli(['read', file]);
    expect(stdout).toMatch(/^hasSBDH: false$/m);
    expect(stdout).toMatch(/^note: a document without a Standard Business Document Header/m);
  });

  it('an XML file goes to the reader that its root element names, whatever stands before it and in which encoding', async () => {
    // The first 4 KB were searched for "<Envelope": a comment that spoke of one made an order AS4, a long comment before a
    // SOAP envelope made it an order, and documents in UTF-16 were no XML at all.
    const folder = tempDir().path;
    const shown = async (content: string | Buffer): Promise<string> => {
      writeFileSync(join(folder, 'file'), content);
      let out = '';
      const print = (text: string): void => {
        out += text;
      };
      await main(['read', join(folder, 'file'), '--json'], { out: print, err: print, tty: false, env: process.env });
      const { verdict, category, hasSBDH, reason, code } = JSON.parse(out) as Record<string, string | boolean | undefined>;
      return category === undefined ? `as4 ${String(code)}: ${String(reason)}` : `${String(verdict)} ${String(category)} ${String(hasSBDH ?? reason)}`;
    };
    const order = '<Order xmlns="urn:o"/>';
    const soap = '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body/></s:Envelope>';
    expect(await shown(`<!-- not an <Envelope > of any kind -->${order}`)).toBe('parse sbdh false');
    expect(await shown('<Envelope xmlns="urn:other"/>')).toBe('parse sbdh false');
    expect(await shown(Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${order}`, 'utf16le'))).toBe('parse sbdh false');
    expect(await shown(Buffer.from(sbd({ prolog: '\ufeff' }), 'utf16le').swap16())).toBe('parse sbdh true');
    const nothing = 'as4 HEADER_INVALID: eb:Messaging missing';
    expect(await shown(`<!--${'long '.repeat(2_000)}-->${soap}`)).toBe(nothing);
    expect(await shown(Buffer.from(`\ufeff${soap}`, 'utf16le'))).toBe(nothing);
    expect(await shown(`<Messaging xmlns="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/"/>`)).toMatch(/^as4 .*no SOAP envelope/);
    expect(await shown("UIB+UNOB:4+1'")).toBe('reject edifact interactive EDIFACT (UIB) is not supported');
  });

  it('foretells claim, replay and mismatch from the ledger, and writes nothing', async () => {
    const { path: folder } = tempDir();
    const config = join(folder, 'edi.yaml');
    writeFileSync(config, 'role: front\nlisten: 127.0.0.1:0\nledger: { embedded: ./ledger }\nroutes:\n  - { path: /edi, protocol: edifact, upstream: "http://127.0.0.1:9", defaults: { window: 30d } }\n');
    const file = join(folder, 'orders.edi');
    const other = join(folder, 'other.edi');
    writeFileSync(file, ORDERS);
    writeFileSync(other, ORDERS.replace('BGM+220+1', 'BGM+220+2'));
    const now = async (of: string): Promise<unknown> => {
      const { interchanges } = JSON.parse((await runCli(['read', of, '--config', config, '--json'])).stdout) as { interchanges: { now: string; window: string }[] };
      return interchanges[0]?.now;
    };
    expect(await now(file)).toBe('claim');
    expect(await now(file)).toBe('claim');

    const { routes, times } = loadConfig(config);
    const [interchange] = interchangesOf(Buffer.from(ORDERS));
    const message = messageOf(interchange!);
    const rule = selectRule(compileRules(routes[0]!.rules), message);
    const ledger = await lmdbLedger({ path: join(folder, 'ledger') });
    const claim = claimFor({ key: keysOf(message, rule, 'default').key, message, rule, scope: 'default', times, owner: thisProcess('test'), token: 't', take: true, remembersMs: 0 });
    await ledger.claim(claim);
    const reply = storeReply({ status: 200, contentType: 'text/plain', body: Buffer.from('ok') });
    await ledger.settle({ key: claim.key, token: 't', fingerprint: claim.fingerprint, reply, beganMsAgo: 0, claim });
    await ledger.close();
    expect(await now(file)).toBe('replay');
    expect(await now(other)).toBe('mismatch');
  });

  it('a TA1-only interchange has a key, a document without SBDH has none, a broken one is refused', async () => {
    const { path: folder } = tempDir();
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const ta1 = await runCli(['read', write('ta1.x12', ISA), '--json']);
    expect((JSON.parse(ta1.stdout) as { interchanges: object[] }).interchanges[0]).toMatchObject({ keyParts: { protocol: 'x12', reference: '000000007', test: 'P' } });
    const ubl = await runCli(['read', write('plain.xml', '<Invoice xmlns="urn:x"/>'), '--json']);
    expect(ubl.code).toBe(0);
    expect(JSON.parse(ubl.stdout)).not.toHaveProperty('key');
    const cut = await runCli(['read', write('cut.edi', ORDERS.slice(0, 60)), '--json']);
    expect(cut.code).toBe(1);
    expect(JSON.parse(cut.stdout)).toMatchObject({ verdict: 'reject', now: 'refuse' });
  });
});
