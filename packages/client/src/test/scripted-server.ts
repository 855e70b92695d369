import { asFields } from '../schema.ts'
import { refusal, type Script, ScriptedSession, textIn } from './scripted-session.ts'

/** A server in memory. */
export interface ScriptedServer {
  /** For `new Troupe({ fetch })`. */
  readonly fetch: typeof fetch
  /** Requests so far, as method and path with their bodies. */
  readonly requests: readonly { readonly request: string; readonly body: unknown }[]
}

/** Serves sessions whose turns follow the scripts, one after the other; a turn without one repeats its input. */
export const scriptedServer = (scripts: readonly Script[] = []): ScriptedServer => {
  const left = [...scripts]
  const sessions = new Map<string, ScriptedSession>()
  const requests: { request: string; body: unknown }[] = []
  const served = (url: URL, init: RequestInit): Response => {
    const { method = 'GET', body: text, signal } = init
    const body = typeof text === 'string' ? asFields(JSON.parse(text)) : {}
    requests.push({ request: `${method} ${url.pathname}`, body })
    const [, , , id = '', what = ''] = url.pathname.split('/')
    if (method === 'POST' && id === '') {
      const made = `ses_${sessions.size + 1}`
      sessions.set(made, new ScriptedSession())
      return Response.json({ id: made }, { status: 201 })
    }
    const session = sessions.get(id)
    if (session === undefined) return refusal(404, 'not_found')
    if (what === 'stream') return session.log.stream(Number(url.searchParams.get('after') ?? 0), signal)
    if (method === 'GET') return Response.json({ id })
    const before = session.log.last
    const key = new Headers(init.headers).get('idempotency-key')
    const error = session.act(what, { body, key, script: () => left.shift() ?? { text: textIn(body.input) } })
    if (error !== null || what === 'reject' || what === 'cancel') return error ?? Response.json({ id })
    return session.log.stream(session.startOf(key) ?? before, signal)
  }
  return {
    requests,
    fetch: (input, init = {}) => Promise.resolve(served(new URL(input instanceof Request ? input.url : input), init)),
  }
}
