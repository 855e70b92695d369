import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Api } from './api.ts'
import { endsTurn } from './stream-reader.ts'
import { refundTool, startToolServer, type ToolServer } from './tool-server.ts'
import { World } from './world.ts'

let world: World
let tool: ToolServer
let dashboard: Api
let path = ''

beforeAll(async () => {
  tool = await startToolServer()
  world = await World.start({ tools: [tool] })
  dashboard = await world.dashboard()
  path = `/api/projects/${(await dashboard.get('/api/projects')).body.data[0].id}/signing-secret`
})
afterAll(async () => {
  await world.stop()
  await tool.close()
})

/** Whether the tool call of a new turn has a signature made with the secret. */
const verifies = async (secret: string): Promise<boolean> => {
  const session = await world.api.createSession()
  const turn = {
    input: 'Please use issue_refund for order 1042',
    tools: [refundTool(tool)],
    pause_on_tool_calls: false,
  }
  await (await world.api.turn(session, turn)).until(endsTurn)
  const call = tool.calls.at(-1)
  const headers = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(call?.headers[name])]),
  )
  try {
    new Webhook(secret).verify(JSON.stringify(call?.body), headers)
    return true
  } catch {
    return false
  }
}

it('shows an admin the secret that verifies requests to tools, and refuses a secret key', async () => {
  const { status, headers, body } = await dashboard.get(path)
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(body).toEqual({ signing_secret: expect.stringMatching(/^whsec_/), previous_valid_until: null })
  expect(await verifies(body.signing_secret)).toBe(true)
  expect((await world.api.get(path)).status).toBe(403)
  expect((await dashboard.get(path.replace(/prj_\w+/, 'prj_00000000000000000000000000'))).status).toBe(404)
})

it('signs with both secrets during the grace period of a rotation, and with the new one alone without it', async () => {
  const before = (await dashboard.get(path)).body.signing_secret
  const rotated = (await dashboard.post(`${path}/rotate`, { grace_s: 3600 })).body
  expect(rotated.signing_secret).not.toBe(before)
  expect(Date.parse(rotated.previous_valid_until)).toBeGreaterThan(Date.now())
  expect(await verifies(rotated.signing_secret)).toBe(true)
  expect(await verifies(before)).toBe(true)
  const last = (await dashboard.post(`${path}/rotate`, { grace_s: 0 })).body
  expect([await verifies(last.signing_secret), await verifies(rotated.signing_secret)]).toEqual([true, false])
})
