/**
 * `npm run pictures`: takes the pictures of the dashboard that README and docs show, from a running front with an hour
 * of made-up traffic behind it. Needs Chromium (node scripts/prepare.mjs --chromium).
 */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { packageRoot } from '../../src/admin/package-root.js';
import { systemClock, type Clock } from '../../src/clock.js';
import { plain, reset } from '../support/scripted-answers.js';
import { CHROMIUM, startBrowser } from './browser.js';
import { operate, TOKEN, type Operated } from './operated.js';

const FOLDER = join(packageRoot(), 'docs', 'img');
const MINUTE = 60_000;
/** A picture in a README has to load quickly. */
const LARGEST = 200_000;

/** A clock that begins an hour ago and is moved on by hand: an hour of traffic takes seconds. */
function hourAgo(): Clock & { ahead(minutes: number): void } {
  let behind = 59 * MINUTE;
  return {
    ...systemClock,
    now: () => systemClock.now() - behind,
    monotonic: () => systemClock.monotonic() - behind + 60 * MINUTE,
    ahead: (minutes) => void (behind -= minutes * MINUTE),
  };
}

const PARTNERS = ['Harbour Foods', 'Nordlicht Energie', 'Aurora Clinics', 'Delta Logistics'];

async function traffic(system: Operated, clock: ReturnType<typeof hourAgo>): Promise<void> {
  let made = 0;
  // a small generator of its own, so that every run draws the same hour
  let state = 7;
  const below = (limit: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
  const message = (id: string, partner: number): Promise<unknown> => system.message({ messageId: id, from: `POP00010${partner}`, c1: `0088:73000100000${partner}`, c4: '0192:991825827' });
  for (let minute = 0; minute < 59; minute += 1) {
    const busy = 3 + below(5) + Math.round(6 * Math.sin((minute / 59) * Math.PI));
    for (let i = 0; i < busy; i += 1) {
      made += 1;
      const id = `${(made * 7_919).toString(16).padStart(8, '0')}-4e1c-4c5e@harbour.example`;
      const partner = below(PARTNERS.length);
      if (minute === 31 && i < 3) system.upstream.next(plain(503, 'text/plain', 'busy'));
      await message(id, partner);
      if (below(5) === 0 || (minute > 20 && minute < 26)) await message(id, partner);
    }
    if (minute === 18 || minute === 44) {
      system.upstream.next(reset('body'));
      await message(`inv-2026-0${minute}17@nordlicht.example`, 1);
    }
    if (minute > 40 && minute % 3 === 0) await message('8f1c2a77-order-5521@delta.example', 3);
    clock.ahead(1);
  }
  await message('inv-2026-01817@nordlicht.example', 1);
}

async function picture(page: Page, name: string, height: number): Promise<void> {
  await page.setViewportSize({ width: 1180, height });
  const path = join(FOLDER, name);
  await page.screenshot({ path, animations: 'disabled' });
  const { size } = statSync(path);
  if (size > LARGEST) throw new Error(`${name} has ${size} bytes`);
  process.stdout.write(`docs/img/${name} ${Math.round(size / 1_000)} kB\n`);
}

async function main(): Promise<void> {
  if (CHROMIUM === undefined) throw new Error('no Chromium here: node scripts/prepare.mjs --chromium');
  mkdirSync(FOLDER, { recursive: true });
  const clock = hourAgo();
  const partners = PARTNERS.map((name, i) => ({ name, match: { from: `POP00010${i}` } }));
  const system = await operate({ partners, node: 'front-1' }, { clock, configFile: '/etc/as4-once/front.yaml' });
  const browser = await startBrowser();
  try {
    await traffic(system, clock);
    const context = await browser.newContext({ viewport: { width: 1180, height: 1_000 }, locale: 'en-GB', timezoneId: 'UTC' });
    const page = await context.newPage();
    await page.goto(system.url);
    await page.getByLabel('Token').fill(TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('#storms article').waitFor();
    await picture(page, 'dashboard.png', 960);
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'dashboard-dark.png', 960);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.locator('#waiting summary').first().click();
    await page.locator('#waiting-section').evaluate((section: any) => section.scrollIntoView());
    await picture(page, 'held.png', 900);
    await page.getByRole('button', { name: 'Release …' }).first().click();
    await page.getByLabel('Your name').fill('Anna Berg');
    await page.getByLabel(/^Reason/).fill('Not in the ERP, checked with Nordlicht at 14:20');
    await picture(page, 'release.png', 640);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('#storms-section').evaluate((section: any) => section.scrollIntoView());
    await picture(page, 'storms.png', 860);
  } finally {
    await browser.close();
    await system.close();
  }
}

await main();
