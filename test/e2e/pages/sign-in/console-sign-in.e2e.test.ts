import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeAt, stepMs } from '#actors/accounts/sign-in/totp.ts'
import { OpenConsole } from '../open-console.ts'

/** A certified provider, at which every name signs in; it serves once a client is registered. */
class People {
  #provider: Provider | null = null
  readonly #server = createServer((request, response) => this.#provider?.callback()(request, response))

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get host(): string {
    const { port }: AddressInfo = Object(this.#server.address())
    return `127.0.0.1:${port}`
  }

  register(redirectUri: string): void {
    this.#provider = new Provider(`http://${this.host}`, {
      clients: [{ client_id: 'troupe', client_secret: 'a secret', redirect_uris: [redirectUri] }],
      cookies: { keys: ['k'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      pkce: { required: () => true },
      findAccount: async (_context: unknown, id: string) => ({
        accountId: id,
        claims: async () => ({ sub: id, email: `${id}@example.org`, email_verified: true, groups: ['operators'] }),
      }),
      features: { devInteractions: { enabled: true } },
    })
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('the sign-in of the console', () => {
  let console: OpenConsole
  let people: People

  beforeAll(async () => {
    people = await new People().listen()
    console = await OpenConsole.start({ env: { ALLOWED_PRIVATE_HOSTS: people.host } })
  })
  afterAll(async () => {
    await console?.stop()
    await people?.stop()
  })

  const signOut = async () => {
    await console.page.getByRole('button', { name: 'Sign out' }).click()
    await console.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    // the address still names the page that was shown
    await console.page.goto(console.world.url)
    await console.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }

  it('leads to a provider and back, and is listed among the sessions with what ends them', async () => {
    const { page, world } = console
    const owner = await world.dashboard()
    const connection = {
      ...{ name: 'Acme', issuer: `http://${people.host}`, client_id: 'troupe', client_secret: 'a secret' },
      ...{ allowed_domains: ['example.org'], creates_members: true, scopes: ['openid', 'email', 'groups'] },
      ...{ role_claim: 'groups', roles: { operators: 'admin' } },
    }
    const made = await owner.post('/api/oidc-connections', connection)
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    people.register(made.body.redirect_uri)
    await signOut()
    const button = page.getByRole('button', { name: 'Sign in with Acme' })
    await button.waitFor()
    expect(await console.faults('sign-in')).toEqual([])
    expect(console.complaints).toEqual([])
    await button.focus()
    await page.keyboard.press('Enter')
    await page.locator('[name=login]').fill('bob')
    await page.locator('[name=password]').fill('anything')
    await page.locator('[type=submit]').click()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    // the pages of the provider load a font from elsewhere
    console.complaints.length = 0
    await console.show('settings', 'Settings')
    const row = page.getByRole('table', { name: 'Your sessions' }).getByRole('row').filter({ hasText: 'this one' })
    expect(await row.textContent()).toMatch(/on Linux.*oidc.*ipv4/)
    expect(await console.faults('account')).toEqual([])
    await console.show('resources?kind=project_members', 'Members')
    await page.getByRole('table', { name: 'Members' }).getByText('bob@example.org').first().waitFor()
    await console.show('audit', 'Audit log')
    await page.getByRole('table', { name: 'Audit log' }).getByText('member signed in').first().waitFor()
    await console.show('resources?kind=oidc_connections', 'Sign-in providers')
    await page.getByRole('table').getByText('Acme').waitFor()
    expect(await console.faults('providers')).toEqual([])
    await signOut()
  })

  it('requires the code of an authenticator that was set up in the settings', async () => {
    const { page, world } = console
    const signIn = async () => {
      await page.getByLabel('E-mail').fill(world.ownerEmail)
      await page.getByLabel('Password').fill(world.ownerPassword)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    }
    await signIn()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await console.show('settings', 'Settings')
    const setUp = page.getByRole('form', { name: 'Set up a second factor' })
    await setUp.getByLabel('Password').fill(world.ownerPassword)
    await setUp.getByRole('button', { name: 'Set up' }).click()
    const confirm = page.getByRole('form', { name: 'Confirm the second factor' })
    await confirm.getByRole('img', { name: 'QR code' }).waitFor()
    expect(await console.faults('second-factor')).toEqual([])
    const key = keyOf((await confirm.locator('code').textContent()) ?? '')
    const codeOf = (ahead: number) => codeAt(key, Math.floor(Date.now() / stepMs) + ahead)
    await confirm.getByRole('textbox', { name: 'Code' }).fill(codeOf(0))
    await confirm.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await page.getByText('10 recovery codes left').waitFor()
    await signOut()
    await signIn()
    const field = page.getByLabel('Code of your authenticator')
    await field.waitFor()
    expect(await console.faults('sign-in-code')).toEqual([])
    await field.fill(codeOf(1))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    const refused = /status of 401/
    expect(console.complaints.filter((each) => !refused.test(each))).toEqual([])
  })
})

const keyOf = (secret: string): Buffer => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
