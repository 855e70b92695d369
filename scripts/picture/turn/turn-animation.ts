import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser, Locator, Page } from 'playwright'
import type { Frame } from '#scripts/quickstart/sse-lines.ts'
import { startToolServer } from '#scripts/quickstart/tool-server.ts'
import { freePort } from '#scripts/services/service.ts'
import { Installation } from '../installation.ts'
import { startModelServer } from './model-server.ts'
import { type Recorder, startRecorder } from './recorder.ts'
import { consoleSize, width } from './stage.ts'
import { readStream } from './stream-reader.ts'
import { animatedWebp } from './webp.ts'

/*
 * The picture on top of README: a turn whose server is killed while it streams, which another process resumes, and whose
 * tool call a person approves in the console. All of it happens, and is recorded: the server and its two processes, the
 * client of the stream, and the console's page. The model is a script, since a real one costs money and is never the same.
 */

const input = 'I paid twice for order 1042. Please fix it.'
const refund = {
  ...{
    type: 'http',
    name: 'issue_refund',
    description: 'Pays an order back.',
    needsApproval: true,
    risk_level: 'high',
  },
  parameters: { type: 'object', properties: { order: { type: 'string' }, amount_usd: { type: 'number' } } },
}

/** Nothing moves that says nothing: the error stays out of the page's flow, and the current state does not pulse. */
const steady = '.notice{position:fixed;inset:0 0 auto}.chart rect{animation:none!important}'

interface Scene {
  readonly installation: Installation
  readonly page: Page
  readonly recorder: Recorder
}

/** Records the turn. @returns an animated WebP */
export const turnAnimation = async (browser: Browser): Promise<Buffer> => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-turn-'))
  const [model, tool] = [await startModelServer(), await startToolServer()]
  const installation = await Installation.start({
    ...{ PORT: String(await freePort()), DATA_DIR: folder, ALLOWED_PRIVATE_HOSTS: tool.host },
    ...{ OPENAI_API_KEY: 'none', OPENAI_BASE_URL: model.url, SIMULATED_PROVIDER: 'off' },
  })
  try {
    const session = await installation.post('/v1/sessions', {})
    const page = await openedPage(browser, installation, session)
    const scene = { installation, page, recorder: startRecorder(page) }
    const read = streamed(scene, session)
    const turn = { input, tools: [{ ...refund, url: tool.url }], model: 'openai/scripted' }
    await killed(scene, `/v1/sessions/${session}/turns`, turn)
    await resumed(scene)
    await approved(scene, session)
    await read
    scene.recorder.phase(4)
    await page.locator('.state-now', { hasText: 'idle' }).waitFor()
    scene.recorder.server(`the refund service was called ${tool.refunds.size} time`)
    await pause(1500)
    return animatedWebp(await scene.recorder.stop(await browser.newPage({ deviceScaleFactor: 2 })))
  } finally {
    await installation.server.stop()
    model.close()
    tool.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const openedPage = async (browser: Browser, installation: Installation, session: string): Promise<Page> => {
  const page = await browser.newPage({
    viewport: { width: consoleSize.left + consoleSize.width, height: consoleSize.top + consoleSize.height },
    ...{ deviceScaleFactor: (2 * width) / consoleSize.width, colorScheme: 'dark', bypassCSP: true },
  })
  await installation.signIn(page, `actors/${session}`)
  await page.locator('.stream[data-status=live]').waitFor()
  await page.addStyleTag({ content: steady })
  await page.getByRole('tab', { name: 'Conversation' }).click()
  return page
}

const streamed = ({ installation: { server, authorization }, recorder }: Scene, session: string): Promise<void> =>
  readStream(`${server.url}/v1/sessions/${session}/stream?restarts=true`, authorization, {
    onFrame: (frame) => recorder.client(textOf(frame)),
    onLost: (last) => recorder.client(`connection lost after event ${last}`),
    onResumed: (last) => recorder.client(`resumed with Last-Event-ID: ${last}`),
  })

const textOf = ({ id, event, data }: Frame): string => {
  const detail = data.delta ?? data.resolution ?? data.tool
  return `${id.padStart(3)}  ${event}  ${detail === undefined ? '' : JSON.stringify(detail)}`
}

/** Begins a turn, and kills the server in the middle of its answer. */
const killed = async ({ installation, page, recorder }: Scene, path: string, turn: object): Promise<void> => {
  const { process } = installation.server
  recorder.server('$ npm start', `Troupe is ready, process ${process.pid}`)
  await pause(400)
  // the kill breaks this request, whose events the client of the stream receives as well
  installation.post(path, turn).catch(() => {})
  await page.getByRole('tabpanel').getByText('once by card').waitFor()
  recorder.phase(1)
  recorder.server(`$ kill -9 ${process.pid}`)
  await pause(400)
  const died = new Promise((resolve) => process.once('exit', resolve))
  process.kill('SIGKILL')
  await died
  recorder.server('Killed')
  recorder.dead(true)
}

/** Starts another process, which resumes the turn until its tool call waits for an approval. */
const resumed = async ({ installation, page, recorder }: Scene): Promise<void> => {
  await pause(1200)
  recorder.server('$ npm start')
  const startedAt = performance.now()
  await installation.restart()
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  recorder.server(`Troupe is ready after ${seconds} s, process ${installation.server.process.pid}`)
  recorder.dead(false)
  recorder.phase(2)
  await page.getByRole('tabpanel').getByText('is pending approval').waitFor()
  await pause(900)
}

/** Approves the call in the console, as a person does, and returns to the session. */
const approved = async ({ page, recorder }: Scene, session: string): Promise<void> => {
  recorder.phase(3)
  await click(recorder, page.getByRole('link', { name: 'issue_refund' }))
  await page.getByRole('form', { name: 'Decide' }).waitFor()
  await pause(1500)
  await click(recorder, page.getByRole('button', { name: 'Approve', exact: true }))
  await page.locator('.state-now', { hasText: 'executed' }).waitFor()
  await pause(1100)
  await click(recorder, page.locator(`a[data-id="${session}"]`).first())
}

/** Clicks, with a mark where, and a moment to see it. */
const click = async (recorder: Recorder, at: Locator): Promise<void> => {
  const box = await at.boundingBox()
  if (box !== null) recorder.click({ x: box.x + box.width / 2, y: box.y + box.height / 2 })
  await pause(500)
  await at.click()
}
