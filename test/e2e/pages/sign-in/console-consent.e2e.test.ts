import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LoopbackServer } from '#test/support/loopback-server.ts'
import { OpenConsole } from '../open-console.ts'

/** The page of an app to which members are sent back. */
class Callback extends LoopbackServer {
  protected answer(_request: unknown, response: { end(text: string): unknown }): void {
    response.end('<!doctype html><title>App</title>Back at the app')
  }
}

const hostile = '<img src=x onerror="document.title=1"><script>document.title=1</script>\u202Eppa'
const verifier = 'v'.repeat(43)

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('the consent page', () => {
  let console: OpenConsole
  let callback: Callback
  let clientId = ''

  beforeAll(async () => {
    callback = await new Callback().listening()
    console = await OpenConsole.start()
    const app = { client_name: hostile, logo_uri: 'https://evil.example/x.svg', redirect_uris: [callback.url('/cb')] }
    clientId = (await console.world.as('none').post('/oauth/register', app)).body.client_id
  })
  afterAll(async () => {
    await console?.stop()
    await callback?.close()
  })

  const opened = async (changed: Readonly<Record<string, string>> = {}) => {
    const params = {
      ...{ response_type: 'code', client_id: clientId, redirect_uri: callback.url('/cb'), state: 'a&b=c' },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      ...{ code_challenge_method: 'S256', scope: 'read sessions', resource: `${console.world.url}/mcp`, ...changed },
    }
    await console.page.goto(`${console.world.url}/oauth/authorize?${new URLSearchParams(params)}`)
    await console.page.getByRole('heading', { level: 1 }).waitFor()
  }

  it('shows the words of an app as plain text, loads nothing of it, and has no faults', async () => {
    const requests: string[] = []
    console.page.on('request', (request) => requests.push(request.url()))
    await opened()
    const { page } = console
    await page.getByText('<img src=x onerror="document.title=1">').waitFor()
    await page.getByText('read and change sessions').waitFor()
    expect(await page.title()).toBe('Access for an app · Troupe')
    expect(await page.locator('bdi').count()).toBe(0)
    expect(requests.filter((url) => !url.startsWith(console.world.url))).toEqual([])
    expect(await console.faults('consent')).toEqual([])
    expect(console.complaints).toEqual([])
  })

  it('cannot be framed, and runs no script but its own', async () => {
    const { headers } = await fetch(`${console.world.url}/oauth/authorize`)
    const policy = headers.get('content-security-policy')
    expect(policy).toContain("default-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
  })

  it('grants what is allowed by keyboard, which the settings list and revoke', async () => {
    await opened()
    const { page, world } = console
    const allow = page.getByRole('button', { name: 'Allow' })
    await allow.focus()
    await page.keyboard.press('Enter')
    await page.getByText('Back at the app').waitFor()
    const { searchParams } = new URL(page.url())
    expect([searchParams.get('state'), searchParams.get('iss')]).toEqual(['a&b=c', world.url])
    const form = {
      ...{ grant_type: 'authorization_code', code: searchParams.get('code') ?? '', client_id: clientId },
      ...{ redirect_uri: callback.url('/cb'), code_verifier: verifier },
    }
    const answer = await fetch(`${world.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
    const { access_token } = JSON.parse(await answer.text())
    const mcp = () =>
      fetch(`${world.url}/mcp`, { method: 'POST', headers: { authorization: `Bearer ${access_token}` } })
    expect((await mcp()).status).not.toBe(401)
    await console.show('settings', 'Settings')
    const row = page.getByRole('table', { name: 'Apps' }).getByRole('row').filter({ hasText: 'read, sessions' })
    expect(await row.textContent()).toContain(world.ownerEmail)
    expect(await console.faults('settings')).toEqual([])
    await row.getByRole('button', { name: 'Revoke' }).click()
    await row.getByRole('button', { name: /^Revoke ./ }).click()
    await row.waitFor({ state: 'detached' })
    expect((await mcp()).status).toBe(401)
  })

  it('sends back who denies, and requires a sign-in first', async () => {
    const { page, world } = console
    await opened()
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByText('Back at the app').waitFor()
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
    const context = await page.context().browser()?.newContext()
    const stranger = await context?.newPage()
    await stranger?.goto(`${world.url}/oauth/authorize?client_id=${clientId}&redirect_uri=https://evil.example/`)
    await stranger?.getByRole('heading', { name: 'Sign in' }).waitFor()
    await context?.close()
  })

  it('leads nowhere for a redirect that is not of the app, and explains what it cannot grant', async () => {
    const { page } = console
    await page.goto(`${console.world.url}/oauth/authorize?client_id=${clientId}&redirect_uri=https://evil.example/`)
    await page.getByRole('alert').filter({ hasText: 'does not have this redirect_uri' }).waitFor()
    expect(await page.getByRole('button').count()).toBe(0)
    console.complaints.length = 0
    await opened({ code_challenge_method: 'plain' })
    await page.getByRole('heading', { name: 'The request cannot be granted' }).waitFor()
    expect(await console.faults('consent-refused')).toEqual([])
    expect(console.complaints).toEqual([])
  })
})
