import { readFileSync, readdirSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compose as composed, receipt, reset } from '../support/scripted-answers.js';
import type { Received } from '../support/scripted-upstream.js';
import { identity } from '../support/messages.js';
import { CHROMIUM, startBrowser } from './browser.js';
import { operate, TOKEN, type Operated } from './operated.js';

const FOLDER = new URL('../../src/admin/dashboard/', import.meta.url);

let system: Operated;
beforeAll(async () => {
  system = await operate();
});
afterAll(() => system.close());

describe('the dashboard\'s files', () => {
  it('are plain files that name nothing outside', () => {
    for (const name of readdirSync(FOLDER)) {
      const text = readFileSync(new URL(name, FOLDER), 'utf8').replaceAll('http://www.w3.org/2000/svg', '');
      expect(text, name).not.toMatch(/https?:\/\/|\/\/[a-z]+\.[a-z]|@import|innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function/);
    }
    const html = readFileSync(new URL('index.html', FOLDER), 'utf8');
    expect(html).not.toMatch(/<style|style="|\son[a-z]+="|<script(?![^>]*src=)/);
  });

  it('are served with a policy that allows nothing but themselves', async () => {
    for (const [path, type] of [['/', 'text/html'], ['/app.js', 'text/javascript'], ['/style.css', 'text/css'], ['/icon.svg', 'image/svg+xml']] as const) {
      const answer = await fetch(`${system.url}${path}`);
      expect(answer.status, path).toBe(200);
      expect(answer.headers.get('content-type')).toContain(type);
      const policy = answer.headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    }
  });

  it('are all there is: no way out of their folder', async () => {
    for (const path of ['/../api.ts', '/%2e%2e/api.ts', '/..%2fapi.ts', '/.git', '/package.json', '/dashboard/']) expect((await fetch(`${system.url}${path}`)).status, path).toBe(404);
  });

  it('can be left out', async () => {
    const without = await operate({}, { admin: { dashboard: false } });
    expect((await fetch(without.url)).status).toBe(404);
    expect((await without.ask('/status')).status).toBe(200);
    await without.close();
  });
});

describe.skipIf(CHROMIUM === undefined)(`the dashboard in a browser${CHROMIUM === undefined ? ' (skipped: no Chromium here; node scripts/prepare.mjs --chromium)' : ''}`, () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  let elsewhere: string[];

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
    page = await context.newPage();
    complaints = [];
    elsewhere = [];
    page.on('console', (line) => {
      // a refusal is also said on the page; the browser's own line about its status is no complaint
      if (line.type() === 'error' && !/status of 4\d\d/.test(line.text())) complaints.push(line.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      if (!request.url().startsWith(system.url)) elsewhere.push(request.url());
    });
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
    expect(elsewhere).toEqual([]);
  });

  const open = async (hash = ''): Promise<void> => {
    await page.goto(`${system.url}/${hash}`);
    await page.locator('html[data-ready]').waitFor();
  };
  const signIn = async (token = TOKEN): Promise<void> => {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  const asOperator = async (): Promise<void> => {
    await open();
    await signIn();
    await page.getByRole('heading', { name: 'Node and ledger' }).waitFor();
  };
  const hold = async (messageId: string, more: object = {}): Promise<Received> => {
    system.upstream.next(reset('body'));
    await system.message({ messageId, ...more });
    return system.upstream.requests.at(-1) as Received;
  };
  const state = async (messageId: string): Promise<string> => (await system.ask(`/records?id=${encodeURIComponent(messageId)}`)).json.records[0].state as string;

  it('shows health and rates to anybody, and nothing else', async () => {
    await hold('nobody-sees-this@test');
    await system.message({ messageId: 'plain@test' });
    await open();
    expect(await page.getByRole('status').first().textContent()).toBe('Working');
    expect(await page.getByRole('row', { name: /first copy, delivered/ }).count()).toBe(1);
    expect(await page.getByText('Sign in with the token').isVisible()).toBe(true);
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(['The last hour']);
    const all = await page.content();
    for (const word of ['nobody-sees-this', 'Acme', 'POP000001', 'node-1']) expect(all).not.toContain(word);
  });

  it('says that a token is the wrong one, and shows nothing for it', async () => {
    await open();
    await signIn('wrong');
    await page.getByText('This is not the token.').waitFor();
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(['The last hour']);
    expect(await page.getByLabel('Token').inputValue()).toBe('');
  });

  it('shows what waits with the commands that resolve it, and keeps an opened line open while it looks again', async () => {
    await hold('waits@test');
    await asOperator();
    const line = page.locator('#waiting details', { hasText: 'waits@test' });
    await line.locator('summary').click();
    expect(await line.getByText(/^as4-once settle --key \S+ --receipt FILE --reason TEXT/).isVisible()).toBe(true);
    expect(await line.getByText(/^as4-once release --key/).isVisible()).toBe(true);
    await hold('waits too@test');
    await page.locator('#waiting details', { hasText: 'waits too@test' }).waitFor({ timeout: 20_000 });
    expect(await line.getAttribute('open')).not.toBeNull();
  });

  it('finds a message by its id and shows its timeline; the address leads there again', async () => {
    const id = 'find <b>me</b> & more@test';
    await system.message({ messageId: id });
    await system.message({ messageId: id });
    await asOperator();
    await page.getByLabel('Message id, or key from the log').fill(id);
    await page.keyboard.press('Enter');
    const card = page.getByRole('article', { name: `Message ${id}` });
    await card.waitFor();
    expect(await card.getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining('Attempt 1 began at node-1'), expect.stringContaining('Attempt 1 ended accepted'), expect.stringContaining('One copy came'),
    ]);
    await page.reload();
    await page.getByRole('article', { name: `Message ${id}` }).waitFor();
    await page.getByLabel('Message id, or key from the log').fill('nothing');
    await page.keyboard.press('Enter');
    await page.getByText('No record of nothing.').waitFor();
    expect(await page.getByRole('article', { name: /^Message/ }).count()).toBe(0);
  });

  it('takes what a sender writes for text, whatever it looks like', async () => {
    const attack = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>';
    await hold(attack, { from: attack.slice(0, 60), c1: attack, action: attack, service: attack, conversationId: attack });
    for (let i = 0; i < 7; i += 1) await system.message({ messageId: `storm ${attack}` });
    await asOperator();
    await page.locator('#waiting details', { hasText: '<img src=x' }).first().locator('summary').click();
    await page.locator('#storms article', { hasText: '<img src=x' }).waitFor();
    await page.getByLabel('Message id, or key from the log').fill(attack);
    await page.keyboard.press('Enter');
    await page.locator('#found article').waitFor();
    expect(await page.title()).toBe('as4-once');
    expect(await page.locator('img:not([src="icon.svg"]), main script').count()).toBe(0);
  });

  it('releases by the keyboard alone: reason and name first, then it is done and told', async () => {
    await hold('keyboard@test');
    await asOperator();
    await page.locator('#waiting summary', { hasText: 'keyboard@test' }).focus();
    await page.keyboard.press('Enter');
    const line = page.locator('#waiting details', { hasText: 'keyboard@test' });
    const button = line.getByRole('button', { name: 'Release …' });
    for (let i = 0; i < 20 && !(await button.evaluate((one) => one === one.ownerDocument.activeElement)); i += 1) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Release this message' });
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'Release' }).press('Enter');
    expect(await dialog.getByRole('alert').textContent()).toBe('Say who you are.');
    await page.keyboard.type('Anna');
    await dialog.getByLabel(/^Reason/).press('End');
    await page.keyboard.type('not in the ERP');
    await dialog.getByRole('button', { name: 'Release' }).press('Enter');
    await page.getByText('Released. The next copy is delivered once, marked. (keyboard@test)').waitFor();
    expect(await state('keyboard@test')).toBe('open');
    await line.waitFor({ state: 'detached' });
    expect(system.log().filter(({ event }) => event === 'operator').at(-1)).toMatchObject({ act: 'release', who: 'Anna', reason: 'not in the ERP', done: true });
  });

  it('settles with an uploaded Receipt, and says why it does not where the Receipt is for something else', async () => {
    const attempted = await hold('upload@test', { signer: identity() });
    await asOperator();
    const line = page.locator('#waiting details', { hasText: 'upload@test' });
    await line.locator('summary').click();
    await line.getByRole('button', { name: 'Settle …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Settle this message' });
    await dialog.getByLabel('Your name').fill('Ben');
    await dialog.getByLabel(/^Reason/).fill('in its store');
    const upload = async (step: ReturnType<typeof receipt>): Promise<void> => {
      await dialog.getByLabel(/Receipt/).setInputFiles({ name: 'receipt.xml', mimeType: 'text/xml', buffer: composed(step, attempted).body });
      await dialog.getByRole('button', { name: 'Settle', exact: true }).click();
    };
    await upload(receipt({ refTo: 'another@test' }));
    await dialog.getByText(/RECEIPT_FOREIGN.*another@test/).waitFor();
    expect(await state('upload@test')).toBe('held');
    await upload(receipt({ messageId: 'receipt@ap' }));
    await page.getByText('Settled. Later copies get this Receipt. (upload@test)').waitFor();
    expect(await state('upload@test')).toBe('settled');
  });

  it('shows storms, partners, node and ledger', async () => {
    for (let i = 0; i < 7; i += 1) await system.message({ messageId: 'a storm@test' });
    await asOperator();
    const storm = page.getByRole('article', { name: 'Storm of a storm@test' });
    await storm.getByText(/each answered with the Receipt: the sender does not accept it/).waitFor();
    expect(await storm.getByText(/^as4-once show --key/).isVisible()).toBe(true);
    expect(await page.getByRole('row', { name: /^Acme/ }).count()).toBe(1);
    expect(await page.locator('#node').textContent()).toMatch(/^front node-1, version \d/);
    expect(await page.locator('#ledger dt', { hasText: 'Records' }).count()).toBe(1);
  });

  it('says what endangers the guarantee to everybody, and lets an operator end it', async () => {
    await system.ask('/bypass', { body: { on: true, for: '5m', reason: 'Redis moves', who: 'Anna' } });
    await open();
    const danger = page.locator('#warnings .warning', { hasText: 'BYPASS' });
    await danger.waitFor({ timeout: 20_000 });
    expect(await page.locator('#health').textContent()).toBe('Works, but endangered');
    expect(await danger.getByRole('button').count()).toBe(0);
    await signIn();
    await danger.getByRole('button', { name: 'End the bypass …' }).click();
    const dialog = page.getByRole('dialog', { name: 'End the bypass' });
    await dialog.getByLabel('Your name').fill('Anna');
    await dialog.getByLabel(/^Reason/).fill('it is there again');
    await dialog.getByRole('button', { name: 'End it' }).click();
    await page.getByText('The bypass is over on this machine.').waitFor();
    await danger.waitFor({ state: 'detached', timeout: 20_000 });
  });

  it('speaks to a screen reader: landmarks, headings in order, names for every control and table', async () => {
    await hold('reader@test');
    await asOperator();
    const found = await page.evaluate(() => {
      const { document } = globalThis as unknown as { document: any };
      const visible = (node: any): boolean => node.checkVisibility();
      const nameOf = (node: any): string => node.getAttribute('aria-label') ?? (node.labels?.[0] ?? node).textContent.trim();
      return {
        landmarks: ['header', 'main', 'footer'].map((name) => document.querySelectorAll(name).length),
        levels: [...document.querySelectorAll('h1, h2, h3')].filter(visible).map((node: any) => Number(node.tagName.slice(1))),
        unnamed: [...document.querySelectorAll('button, input, textarea, a, summary')].filter((node: any) => visible(node) && nameOf(node) === '').map((node: any) => node.outerHTML),
        tables: [...document.querySelectorAll('table')].map((node: any) => [node.caption !== null, node.querySelectorAll('tbody tr').length === node.querySelectorAll('tbody th[scope=row]').length]),
        images: [...document.querySelectorAll('svg, img')].filter((node: any) => node.getAttribute('alt') === null && node.getAttribute('aria-label') === null).length,
        ids: [...document.querySelectorAll('[id]')].map((node: any) => node.id),
        language: document.documentElement.lang,
      };
    });
    expect(found.landmarks).toEqual([1, 1, 1]);
    expect(found.levels[0]).toBe(1);
    expect(found.levels.every((level: number, i: number) => i === 0 || level <= (found.levels[i - 1] ?? 0) + 1)).toBe(true);
    expect(found.unnamed).toEqual([]);
    expect(found.tables.length).toBeGreaterThan(1);
    expect(found.tables.flat().every(Boolean)).toBe(true);
    expect(found.images).toBe(0);
    expect(new Set(found.ids).size).toBe(found.ids.length);
    expect(found.language).toBe('en');
  });

  it('has enough contrast in the light and in the dark (WCAG 2.2 AA: 4.5 to 1)', async () => {
    await hold('contrast@test');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await open();
      if (await page.getByLabel('Token').isVisible()) await signIn();
      await page.locator('#waiting details').first().waitFor();
      await page.locator('#waiting summary').first().click();
      const poor = await page.evaluate(() => {
        const { document, getComputedStyle } = globalThis as unknown as { document: any; getComputedStyle: any };
        const channels = (text: string): number[] => (text.match(/[\d.]+/g) ?? []).map(Number);
        const light = (rgb: number[]): number => {
          const [r = 0, g = 0, b = 0] = rgb.slice(0, 3).map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const back = (node: any): number[] => {
          for (let one = node; one !== null; one = one.parentElement) {
            const color = channels(getComputedStyle(one).backgroundColor);
            if (color.length === 3 || (color[3] ?? 0) > 0) return color;
          }
          return [255, 255, 255];
        };
        return [...document.querySelectorAll('body *')].filter((node: any) => node.checkVisibility() && [...node.childNodes].some((child: any) => child.nodeType === 3 && child.textContent.trim() !== ''))
          .map((node: any) => {
            const svg = node.namespaceURI !== 'http://www.w3.org/1999/xhtml';
            const [a, b] = [light(channels(getComputedStyle(node)[svg ? 'fill' : 'color'])), light(back(node))].sort((x, y) => y - x) as [number, number];
            return [(a + 0.05) / (b + 0.05), `${node.tagName}.${node.className} ${node.textContent.trim().slice(0, 40)}`] as const;
          }).filter(([ratio]: readonly [number, string]) => ratio < 4.5);
      });
      expect(poor, colorScheme).toEqual([]);
    }
  });

  it('fits a narrow screen', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await hold('narrow@test');
    await asOperator();
    await page.locator('#waiting summary').first().click();
    expect(await page.evaluate(() => (globalThis as unknown as { document: any }).document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  });

  it('forgets everything at sign-out', async () => {
    await hold('forgotten@test');
    await asOperator();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    expect(await page.content()).not.toContain('forgotten@test');
    expect(await page.evaluate((word) => JSON.stringify({ ...(globalThis as unknown as { sessionStorage: object }).sessionStorage }).includes(word), TOKEN)).toBe(false);
  });

  it('says so where as4-once does not answer any more, and goes on when it does', async () => {
    await open();
    await page.route('**/api/**', (route) => route.abort());
    await page.getByText('as4-once does not answer').waitFor({ timeout: 20_000 });
    expect(await page.locator('#health').textContent()).toBe('No answer');
    await page.unroute('**/api/**');
    await page.getByText('as4-once does not answer').waitFor({ state: 'hidden', timeout: 20_000 });
    complaints = complaints.filter((text) => !text.includes('ERR_FAILED'));
  });
});
