import assert from 'node:assert/strict'
import { Configuration, ResponseError, SessionsApi } from './client/index.js'

const sessions = new SessionsApi(
  new Configuration({ basePath: process.env.TROUPE_URL ?? '', accessToken: process.env.TROUPE_KEY ?? '' }),
)

const { id: sessionId } = await sessions.sessionsCreate()
await sessions.sessionsCreate()

const { raw } = await sessions.sessionsTurnsRaw({ sessionId, turnRequest: { input: 'Say hello' } })
assert.match(await raw.text(), /^event: turn\.completed$/m)

const session = await sessions.sessionsGet({ sessionId })
assert.equal(session.turnCount, 1)
const log = await sessions.sessionsEvents({ sessionId })
assert.equal(log.data.at(-1)?.eventType, 'turn.completed')

const ids = new Set<string>()
for (let startingAfter: string | undefined; ; ) {
  const { data, pagination } = await sessions.sessionsList({ limit: 1, ...(startingAfter && { startingAfter }) })
  startingAfter = data[0]?.id
  ids.add(`${startingAfter}`)
  if (!pagination.hasMore) break
}
assert(ids.size >= 2)

const refusal = await sessions.sessionsGet({ sessionId: 'ses_unknown' }).catch((error: unknown) => error)
assert(refusal instanceof ResponseError)
assert.equal((await refusal.response.json()).error.code, 'not_found')
