import { expect, it } from 'vitest'
import { connectionSecrets } from '#actors/connections/kinds.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { effectContextOf } from '#test/support/effect-context-of.ts'
import { openServices } from '#test/support/open-services.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { scriptedConnections } from '../scripted-connections.ts'

it('a code is exchanged once, however long its tokens cannot be stored', async () => {
  const clock = new VirtualClock()
  const { storage } = await openServices({ clock })
  const { records } = storage
  let sent = 0
  const body = { access_token: 'at', refresh_token: 'rt', token_type: 'bearer', expires_in: 3600 }
  const token = () => (++sent === 1 ? { status: 200, body } : { status: 400, body: { error: 'invalid_grant' } })
  const effects = scriptedConnections({ storage, clock, token })
  const code = JSON.stringify({ code: 'c', verifier: 'v', redirect_uri: 'https://example.com/back' })
  const context = effectContextOf('con_1', { code, connector: 'github', generation: 0, pattern: null, config: {} })
  const { insert } = records
  records.insert = (kind, record) =>
    kind.name === connectionSecrets.name ? Promise.reject(new StoreUnavailable('away')) : insert(kind, record)
  const run = effects['connection.exchangeCode']?.run({}, context)
  run?.catch(() => {})
  await clock.advance(60_000)
  records.insert = insert
  await clock.advance(5_000)
  expect(await run).toMatchObject({ event: { type: 'granted' } })
  expect(sent).toBe(1)
})
