import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser, Page } from 'playwright'
import { startToolServer } from '../quickstart/tool-server.ts'
import { freePort } from '../services/service.ts'
import { Installation } from './installation.ts'
import { liveDay } from './lived-day.ts'

/** The pages, each with its file, its address and its heading. */
const pages = [
  ['home', 'home', 'Home'],
  ['overview', 'overview', 'Overview'],
  ['approvals', 'approvals', 'Approvals'],
  ['fleet', 'fleet', 'Fleet'],
  ['gateway', 'gateway', 'Gateway'],
  ['agents', 'resources?kind=agents', 'Agents'],
] as const

/** Halves of hours before now at which the day of the pictures begins. */
const halves = 47

/** Loaded before the server, a module that sets its clock back by the minutes in a file: a day is lived in a minute. */
const clockOf = (file: string): string =>
  `--import data:text/javascript,${encodeURIComponent(
    `import{readFileSync}from'node:fs';let by=0;const read=()=>{by=60_000*Number(readFileSync('${file}','utf8'))};read();setInterval(read,20).unref();globalThis.Date=class extends Date{constructor(...given){given.length?super(...given):super(Date.now())}static now(){return super.now()-by}}`,
  )}`

/** Takes pictures of the console's pages after a day of use. @param keep gets each with the name of its file */
export const pagePictures = async (browser: Browser, keep: (name: string, png: Buffer) => void): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-picture-'))
  const clock = join(folder, 'minutes-ago')
  const tool = await startToolServer()
  writeFileSync(clock, String(halves * 30))
  const installation = await Installation.start({
    ...{ PORT: String(await freePort()), DATA_DIR: join(folder, 'data'), ALLOWED_PRIVATE_HOSTS: tool.host },
    ...{ SIMULATED_PROVIDER: 'on', NODE_OPTIONS: clockOf(clock) },
  })
  try {
    const day = await liveDay(installation, tool.url)
    for (let half = halves; half >= 0; half--) {
      writeFileSync(clock, String(half * 30))
      await pause(100)
      await day.half(halves - half)
    }
    await day.end()
    await taken(await browser.newPage({ viewport: { width: 1280, height: 800 } }), installation, keep)
  } finally {
    await installation.server.stop()
    tool.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const taken = async (page: Page, installation: Installation, keep: (name: string, png: Buffer) => void) => {
  await installation.signIn(page, 'home')
  for (const [name, place, title] of pages) {
    await page.goto(`${installation.server.url}/#/${place}`)
    await page.getByRole('heading', { name: title, exact: true, level: 1 }).waitFor()
    await page.locator('#view section').first().waitFor()
    if (name === 'agents') {
      await page.getByRole('link', { name: 'Support desk' }).click()
      await page.getByRole('table', { name: 'Versions' }).waitFor()
    }
    await page.waitForLoadState('networkidle')
    keep(`console-${name}.png`, await page.screenshot())
  }
  await page.setViewportSize({ width: 390, height: 760 })
  await page.goto(`${installation.server.url}/#/home`)
  await page.getByRole('link', { name: 'issue_refund' }).first().click()
  await page.getByRole('form', { name: 'Decide' }).waitFor()
  keep('console-approval.png', await page.screenshot())
}
