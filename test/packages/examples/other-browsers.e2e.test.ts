import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Troupe } from '#client/index.ts'
import { mintToken } from '#client/server/index.ts'
import { answerTo } from '#test/e2e/gateway/simulated-answer.ts'
import { startToolServer, type ToolServer } from '#test/e2e/tool-server.ts'
import { World } from '#test/e2e/world.ts'
import { atNight } from '#test/setup/at-night.ts'
import { bundled, servePage } from './bundled.ts'
import { otherBrowsers } from './other-browsers.ts'

/**
 * Uses the page in two tabs from within, since no driver speaks to every browser: the first one begins, the second shows the
 * same session and approves, and both go on after the server was killed.
 */
const driver = `
const step = async (name, body = '') => (await fetch('/step/' + name, { method: 'POST', body })).text()
addEventListener('error', ({ message }) => step('error', message))
addEventListener('unhandledrejection', ({ reason }) => step('error', String(reason)))
const until = async (value, what) => {
  for (let tries = 0; tries < 1200; tries++) {
    const found = value()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('not seen: ' + what + ' in ' + document.getElementById('root').textContent)
}
const lines = () => [...document.querySelectorAll('li')].map(({ textContent }) => textContent)
const button = (name) => [...document.querySelectorAll('button')].find(({ textContent }) => textContent.trim() === name)
const isIdle = () => button('Send')?.disabled === false
const say = async (text) => {
  await until(isIdle, 'Send')
  document.querySelector('input').value = text
  button('Send').click()
}
const begins = async () => {
  await import('/code.js')
  await say('reply exactly: Hello there.')
  await until(() => lines().includes('Hello there.') && isIdle(), 'the first answer')
  await step('begun')
  await say('Please use issue_refund for order 7')
  await until(() => lines().length === 4 && !button('Approve') && isIdle(), 'the end of the second turn')
  await say('slow please')
  await until(() => lines().length === 6 && lines().at(-1).length > 20, 'text of the third answer')
  await step('crash')
}
const follows = async () => {
  location.hash = await step('session')
  await import('/code.js')
  await until(() => lines().includes('Hello there.'), 'the first answer')
  const approve = await until(() => button('Approve'), 'Approve')
  approve.click()
  await until(() => lines().length === 6, 'the third turn')
}
await (location.search === '?1' ? begins() : follows())
await until(isIdle, 'the end of the third turn')
await step('done', JSON.stringify(lines()))
`

const browsers = atNight ? otherBrowsers() : []
if (atNight && browsers.length < 2) console.error('NOT TESTED: Firefox or WebKit, which cannot be installed here.')

describe.skipIf(browsers.length === 0)('the example of a chat', () => {
  let [world, tool]: [World, ToolServer] = Object(Array(2))
  let [html, code, agent, tenant_id] = ['', '', '', '']
  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ tools: [tool] })
    tenant_id = (await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
    const refund = { type: 'http', name: 'issue_refund', url: tool.url, needsApproval: true, approver: 'end_user' }
    const config = { model: 'simulated-1', tools: [refund] }
    agent = (await world.api.post('/v1/agents', { name: 'Shop', config })).body.id
    code = await bundled('examples/chat/page.tsx')
    html = `<!doctype html><title>Chat</title><body data-base-url="${world.url}" data-agent_id="${agent}"><div id="root"></div><script type="module">${driver}</script>`
  })
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  it.each(browsers)(
    'streams, approves in one of two tabs and goes on in both after the server was killed, in $name',
    { timeout: 180_000 },
    async ({ open }) => {
      const troupe = new Troupe({ baseUrl: world.url, key: world.secretKey })
      const permissions = ['sessions:turn', 'sessions:approve'] as const
      const token = () => mintToken(troupe, { tenant_id, external_user_id: 'ada', permissions })
      const before = tool.calls.length
      const session = Promise.withResolvers<string>()
      const done: string[][] = []
      const both = Promise.withResolvers<void>()
      const steps: Readonly<Record<string, (body: string) => unknown>> = {
        begun: async () => session.resolve((await world.api.get('/v1/sessions?limit=1')).body.data[0].id),
        session: () => session.promise,
        crash: async () => {
          await world.crash()
          await world.restart()
        },
        error: (message) => both.reject(new Error(message)),
        done: (lines) => {
          done.push(JSON.parse(lines))
          if (done.length === 2) both.resolve()
        },
      }
      const server = await servePage(
        { html, code },
        token,
        async (name, body) => `${(await steps[name]?.(body)) ?? ''}`,
      )
      const browser = await open([`${server.url}/?1`, `${server.url}/?2`])
      try {
        await both.promise
      } finally {
        await browser.close()
        server.close()
      }
      const log = await world.api.log(await session.promise)
      const outputs = log.flatMap(({ payload, event_type }) =>
        event_type === 'turn.completed' ? [payload.output] : [],
      )
      const sent = ['reply exactly: Hello there.', 'Please use issue_refund for order 7', 'slow please']
      const expected = sent.flatMap((input, turn) => [input, outputs[turn]])
      expect(done).toEqual([expected, expected])
      expect([expected[1], expected[5]]).toEqual(['Hello there.', answerTo('slow please')])
      expect(tool.calls.length - before).toBe(1)
    },
  )
})
