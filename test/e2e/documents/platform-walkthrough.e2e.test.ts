import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerChecker } from '#specs/dsl/validate.ts'
import { isWebhookEventType, webhookEvents } from '#specs/events/webhook-events.ts'
import { startToolServer, type ToolServer } from '../tool-server.ts'
import { either, World } from '../world.ts'
import { examplesOf, linesOf } from './page-examples.ts'
import { runBlocks } from './page-session.ts'

const page = readFileSync(new URL('../../../docs/platform-walkthrough.md', import.meta.url), 'utf8')
const examples = examplesOf(page)

/** Above the duration of the whole page on a busy machine. */
const limit = { timeout: 180_000 }

it('the platform walkthrough has an output for every block of commands', () => {
  expect(examples.length).toBe(page.split('```sh').length - 1)
  expect(examples.length).toBeGreaterThan(30)
})

describe.each(either('sqlite'))('the platform walkthrough on $store', ({ store }) => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-walk-'))
  let world: World
  let tool: ToolServer
  let hook: ToolServer

  beforeAll(async () => {
    tool = await startToolServer()
    hook = await startToolServer()
    world = await World.start({ store, tools: [tool, hook] })
  }, limit.timeout)

  afterAll(async () => {
    await world.stop()
    await Promise.all([tool.close(), hook.close()])
    rmSync(folder, { recursive: true, force: true })
  }, limit.timeout)

  it('prints the outputs of the page, and calls the tool once', limit, async () => {
    const env = {
      ...{ TROUPE_URL: world.url, TROUPE_KEY: world.secretKey, TOOL_URL: tool.url, HOOK_URL: hook.url },
      ...{ OWNER_EMAIL: world.ownerEmail, OWNER_PASSWORD: world.ownerPassword },
      // as if a reader had installed the package
      NODE_PATH: fileURLToPath(new URL('../../../node_modules', import.meta.url)),
    }
    const names = 'printf "%s %s" "$run" "$tenant"'
    const outputs = await runBlocks([...examples.map(({ code }) => code), names], { folder, env })
    for (const [place, { prints, code }] of examples.entries()) {
      expect(outputs[place]?.printed, code).toMatch(linesOf(prints.text))
    }
    const [run, tenant] = (outputs.at(-1)?.printed ?? '').split(' ')
    expect(tool.calls).toHaveLength(1)
    expect(tool.calls[0]?.body).toMatchObject({ tool: 'issue_refund', run_id: run })
    await hook.called(3)
    const events = hook.calls.map(({ body }) => body)
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['action.created', 'run.completed']))
    for (const { type, data } of events) {
      if (!isWebhookEventType(type)) throw new Error(`${type} is not declared`)
      expect(answerChecker(webhookEvents[type].data.json)(data), JSON.stringify(data)).toBeNull()
    }
    expect(events.every(({ data }) => data.tenant_id === tenant)).toBe(true)
  })
})
