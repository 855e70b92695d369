import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type NewEraServer, startNewEraServer } from '../mcp/new-era-server.ts'
import { patience } from '../patience.ts'
import { openBrowser } from './open-browser.ts'
import { headed, OpenConsole } from './open-console.ts'

/** Hostile names that a tenant or a service may use: markup, right-to-left overrides, control characters, long texts. */
const markup = `"><img src=x onerror="window.hurt=1"><svg/onload=window.hurt=1>\${window.hurt=1}{{1}}`
const turned = '\u202egnihton \u2066\u202d'
const long = 'w'.repeat(4000)

const risky = {
  type: 'function',
  function: {
    name: 'refund',
    description: markup,
    parameters: { type: 'object', properties: { note: { type: 'string' } } },
  },
  needsApproval: true,
} as const

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('the console with hostile data', () => {
  let console: OpenConsole
  let tools: NewEraServer
  const ids = { session: '', action: '', base: '', source: '', server: '', memory: '' }
  const user = `${markup.slice(0, 60)}${turned}`.replaceAll(/[/?#]/g, '')

  beforeAll(async () => {
    tools = await startNewEraServer([{ name: 'weather', description: `${markup}${turned}${long}` }])
    console = await OpenConsole.start({ tools: [tools] })
    const { api } = console.world
    const made = async (path: string, body: object) => {
      const answered = await api.post(path, body)
      expect(answered.status, `${path} ${JSON.stringify(answered.body)}`).toBeLessThan(300)
      return String(answered.body.id)
    }
    await made('/v1/tenants', { external_id: 'acme', name: `${markup}${turned}` })
    await made('/v1/agents', { name: `${markup}${turned}`, config: { model: 'simulated-1' } })
    ids.session = await made('/v1/sessions', {
      external_user_id: 'eve',
      metadata: { [markup.slice(0, 40)]: `${markup}${turned}` },
    })
    const turn = await api.turn(ids.session, { input: `Use the tool refund for ${markup} ${turned}`, tools: [risky] })
    ids.action = String((await turn.all()).at(-1)?.data.action_id)
    const broken = await made('/v1/sessions', {})
    await (await api.turn(broken, { input: `fail please ${markup}` })).all()
    ids.memory = await made('/v1/memory/write', {
      // more markup would be refused as instructions to a model
      ...{ userId: user, content: 'Ada lives in <b title=x>York</b>' },
      facts: [{ subject: 'Ada', relation: 'lives_in', object: '<b title=x>York</b>' }],
    })
    ids.base = await made('/v1/knowledge-bases', { name: `${markup}${turned}`, description: `${turned}${long}` })
    ids.source = await made(`/v1/knowledge-bases/${ids.base}/sources`, {
      text: `# ${markup}\n\n${turned} leave ${long}`,
      title: `${markup}${turned}`,
    })
    await made('/v1/connections', {
      ...{ connector: 'http', name: `${markup}${turned}`, api_key: 'key-0123456789' },
      config: { base_url: tools.url, test_path: '/me' },
    })
    ids.server = await made('/v1/mcp/servers', { name: `${markup}${turned}`, url: tools.url })
    await made('/v1/webhooks', { url: `${tools.url}/hook`, events: ['*'], description: markup }).catch(() => '')
    const dashboard = await console.world.dashboard()
    const project = `/api/projects/${console.project}`
    await dashboard.post(`${project}/keys`, { name: `${markup}${turned}` })
    await dashboard.post('/api/projects', { name: `${markup}${turned}${long.slice(0, 60)}` })
  })
  afterAll(async () => {
    await console?.stop()
    await tools?.close()
  })

  const places = (): readonly (readonly [place: string, heading: string])[] => [
    ['home', 'Home'],
    ['list/session', 'Sessions'],
    ['list/action', 'Actions'],
    ['fleet', 'Fleet'],
    [`actors/${ids.session}`, ids.session],
    [`actors/${ids.action}`, ids.action],
    [`memory?user=${encodeURIComponent(user)}&q=York&open=${ids.memory}`, 'Memory'],
    ['knowledge', 'Knowledge'],
    [`knowledge?open=${ids.base}&q=leave&child=${ids.source}`, 'Knowledge'],
    ['connections', 'Connections'],
    [`tools?open=${ids.server}`, 'Tool servers'],
    ['settings', 'Settings'],
    ['playground', 'Playground'],
  ]

  /** Signs that a name was rendered as markup, and how much wider than the screen the page is. */
  const hurt = async () => {
    const { page } = console
    return page.evaluate(`({
      ran: window.hurt ?? null,
      brought: document.querySelectorAll('#view img[src="x"], #view [onerror], #view [onload]').length,
      wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    })`)
  }

  it('shows hostile names as text on every page, and none makes a page scroll sideways', {
    timeout: 180_000,
  }, async () => {
    const { page } = console
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 })
      for (const [place, heading] of places()) {
        await console.show(place, heading)
        expect(await hurt(), `${place} at ${width}`).toEqual({ ran: null, brought: 0, wide: 0 })
      }
    }
    expect(console.complaints).toEqual([])
  })

  it('isolates the text direction of names, and escapes direction overrides in arguments to approve', async () => {
    const { page } = console
    await page.setViewportSize({ width: 1280, height: 800 })
    const config = { base_url: tools.url, test_path: '/me' }
    const named = { connector: 'http', name: 'Bank \u202eknab', api_key: 'key-0123456789', config }
    await console.world.api.post('/v1/connections', named)
    await console.show('connections', 'Connections')
    await page.getByText('knab').waitFor()
    // the button that copies the id is to the right of the name in its cell
    const [end, beside] = JSON.parse(
      String(
        await page.evaluate(`(() => {
          const bdi = [...document.querySelectorAll('th bdi')].find((each) => each.textContent.startsWith('Bank'))
          const name = [...bdi.getClientRects()]
          const next = bdi.closest('th').querySelector('.copy').getClientRects()[0]
          return JSON.stringify([Math.max(...name.map(({ right }) => right)), next.left])
        })()`),
      ),
    )
    expect(beside).toBeGreaterThanOrEqual(end)
    await console.show(`actors/${ids.action}`, ids.action)
    const shown = await page.getByRole('form', { name: 'Decide' }).getByLabel('Arguments').inputValue()
    expect(shown).not.toContain('\u202e')
    const { body } = await console.world.api.get(`/v1/actions/${ids.action}`)
    expect(JSON.parse(shown)).toEqual(body.arguments)
  })

  it('shows each page to a member without rights, sends no forbidden request and offers no forbidden action', async () => {
    const dashboard = await console.world.dashboard()
    const member = { email: 'mallory@example.com', password: 'twelve letters and more', role: 'member' }
    await dashboard.post(`/api/projects/${console.project}/members`, member)
    const browser = await openBrowser()
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(patience.timeout)
    const page = await context.newPage()
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() === 403) refused.push(`${response.request().method()} ${response.url()}`)
    })
    await page.goto(console.world.url)
    await page.getByLabel('E-mail').fill(member.email)
    await page.getByLabel('Password').fill(member.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    for (const [place, heading] of places()) {
      await page.goto(`${console.world.url}/#/projects/${console.project}/${place}`)
      await headed(page, heading).waitFor()
      await page.waitForLoadState('networkidle')
      const offered = page.getByRole('button', {
        name: /^(Create|Add|Revoke|Rotate|Remove|Delete|Disable|Reject|Sync|Send)/,
      })
      expect(await offered.allTextContents(), place).toEqual([])
    }
    expect(refused).toEqual([])
    await context.close()
  })

  it('reports that the server cannot be reached, and works again when it is back', async () => {
    const { page, world } = console
    await console.show('fleet', 'Fleet')
    await world.crash()
    await page.getByText('The server cannot be reached.').waitFor()
    await world.restart()
    await page.getByText('The server cannot be reached.').waitFor({ state: 'hidden' })
    const session = await world.api.createSession()
    await console.show(`actors/${session}`, session)
    await page.locator('.stream[data-status=live]').waitFor()
    const away = /Failed to load resource|The server cannot be reached|ERR_/
    expect(console.complaints.filter((each) => !away.test(each))).toEqual([])
  })
})
