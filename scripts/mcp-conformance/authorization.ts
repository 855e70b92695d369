import { spawn } from 'node:child_process'
import { freePort } from '../services/service.ts'

/** A server whose authorization is tested, with the sign-in of its owner. */
export interface AuthorizedServer {
  readonly url: string
  readonly email: string
  readonly password: string
}

const timeoutMs = 60_000

/**
 * Runs the scenarios of the official suite for authorization servers: an app registers, a member decides as on the consent
 * page, and the app exchanges its code.
 *
 * @returns the suite's output, and whether it passed.
 */
export const runAuthorization = async (
  suite: string,
  server: AuthorizedServer,
): Promise<{ readonly passed: boolean; readonly said: string }> => {
  const port = await freePort()
  const app = { client_name: 'Conformance', redirect_uris: ['http://127.0.0.1/callback'] }
  const { client_id } = await posted(`${server.url}/oauth/register`, app)
  const args = ['authorization', '--url', server.url, '--client-id', client_id, '--resource', `${server.url}/mcp`]
  const child = spawn(process.execPath, [suite, ...args, '-p', String(port)], { timeout: timeoutMs })
  let said = ''
  let decided: Promise<unknown> | null = null
  const heard = (part: Buffer): void => {
    said += part.toString()
    const [, url] = /^(http\S+\/oauth\/authorize\?\S+)\s/m.exec(said) ?? []
    if (url !== undefined) decided ??= decide(server, new URL(url))
  }
  child.stdout.on('data', heard)
  child.stderr.on('data', heard)
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  await decided
  return { passed: code === 0, said }
}

/** Approves a request as the consent page does, and follows the redirect. */
const decide = async ({ url, email, password }: AuthorizedServer, request: URL): Promise<void> => {
  const login = await fetch(`${url}/api/auth/login`, init({ email, password }))
  const [cookie = ''] = login.headers.getSetCookie().map((each) => each.split(';')[0] ?? '')
  const consent = { ...Object.fromEntries(request.searchParams), origin: url, decision: 'approve' }
  const { redirect_to } = await posted(`${url}/api/oauth/consents`, consent, { cookie })
  await fetch(redirect_to)
}

const init = (body: object, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

const posted = async (
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<ReturnType<typeof JSON.parse>> => {
  const answer = await fetch(url, init(body, headers))
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`)
  return JSON.parse(text)
}
