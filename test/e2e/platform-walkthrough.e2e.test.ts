import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { answerChecker } from '../../specs/validate.ts'
import { isWebhookEventType, webhookEvents } from '../../specs/webhook-events.ts'
import { startToolServer, type ToolServer } from './tool-server.ts'
import { filledIn, stepsOf, valueAt, type WalkStep } from './walkthrough.ts'
import { stores, World } from './world.ts'

const page = readFileSync(new URL('../../docs/platform-walkthrough.md', import.meta.url), 'utf8')
const steps = stepsOf(page)

/** Longer than any step takes on a busy machine. */
const limit = { timeout: 180_000 }
const patience = { timeout: 60_000, interval: 100 }

it('is a page whose every request can be read', () => {
  expect(steps.length).toBe(page.split('```http').length - 1)
  expect(steps.length).toBeGreaterThan(30)
})

describe.each(stores)('the walk through the platform on $store', ({ store }) => {
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
  }, limit.timeout)

  it('goes as the page says, and calls the tool once', limit, async () => {
    const names = new Map([
      ['tool_url', tool.url],
      ['hook_url', hook.url],
    ])
    for (const step of steps) {
      if (step.until) await vi.waitFor(() => take(step, names), patience)
      else await take(step, names)
    }
    expect(tool.calls).toHaveLength(1)
    expect(tool.calls[0]?.body).toMatchObject({ tool: 'issue_refund', run_id: names.get('run') })
    await hook.called(3)
    const told = hook.calls.map(({ body }) => body)
    expect(new Set(told.map(({ type }) => type))).toEqual(new Set(['action.created', 'run.completed']))
    for (const { type, data } of told) {
      if (!isWebhookEventType(type)) throw new Error(`${type} is not declared`)
      expect(answerChecker(webhookEvents[type].data.json)(data), JSON.stringify(data)).toBeNull()
    }
    expect(told.every(({ data }) => data.tenant_id === names.get('tenant'))).toBe(true)
  })

  const take = async (step: WalkStep, names: Map<string, string>): Promise<void> => {
    const { method, path, body, said } = step
    const where = `${method} ${path}`
    const sent = body === null ? undefined : JSON.parse(filledIn(body, names))
    const response = await world.api.fetch(filledIn(path, names), sent, { method })
    const text = await response.text()
    expect(response.status, `${where}: ${text}`).toBe(step.status)
    const answer: unknown = JSON.parse(text)
    for (const { at, keep, equal } of said) {
      const value = valueAt(answer, filledIn(at, names))
      if (equal !== undefined) expect(value, `${where}: ${at} in ${text}`).toEqual(JSON.parse(filledIn(equal, names)))
      if (keep === undefined) continue
      expect(value, `${where}: ${at} in ${text}`).toBeTypeOf('string')
      names.set(keep, String(value))
    }
  }
})
