import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { chromium } from 'playwright'
import { readCommandLine, refuseCommandLine } from '#src/start/command-line.ts'
import { pagePictures } from './picture/pages.ts'
import { quickstartLines } from './picture/quickstart-lines.ts'
import { terminalAnimation } from './picture/terminal-animation.ts'
import { turnAnimation } from './picture/turn/turn-animation.ts'
import { findChromium } from './services/chromium.ts'

/*
 * `npm run picture`: takes the pictures of the docs from real runs: docs/turn.webp (a turn that is killed, resumed and
 * approved), the pages of the console after a day of use, and docs/quickstart.svg (a terminal in which a quickstart runs,
 * for which no browser is needed).
 */

const kinds = ['turn', 'pages', 'quickstart']
const usage = `usage: npm run picture [-- --only ${kinds.join('|')}]`
const { only } = readCommandLine({ usage, options: { only: { type: 'string' } } })
if (only !== undefined && !kinds.includes(only)) refuseCommandLine(usage, `--only must be one of ${kinds.join(', ')}`)

const keep = (name: string, picture: Buffer | string): void => {
  writeFileSync(resolve(import.meta.dirname, '../docs', name), picture)
  console.log(`docs/${name}: ${Math.round(picture.length / 1024)} KB`)
}
const wants = (kind: string): boolean => only === undefined || only === kind

if (wants('quickstart')) keep('quickstart.svg', terminalAnimation(await quickstartLines()))
if (only === 'quickstart') process.exit()

const executablePath = findChromium()
if (executablePath === null) throw new Error('No Chromium found: install one or set CHROMIUM_PATH.')
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  if (wants('turn')) keep('turn.webp', await turnAnimation(browser))
  if (wants('pages')) await pagePictures(browser, keep)
} finally {
  await browser.close()
}
