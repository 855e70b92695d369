import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { processTree } from '#actors/browser/engine/process-tree.ts'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { begun, ended, path, waiting } from './jobs-of.ts'
import { LoginSite, password } from './login-site.ts'

const handOver = { type: 'handOver', message: 'Please log in.' } as const

/** Width and height of a JPEG, by its first frame header. */
const sizeOf = (image: unknown): readonly [number, number] => {
  const bytes = Buffer.from(String(image), 'base64')
  expect(bytes.readUInt16BE(0)).toBe(0xffd8)
  for (let at = 2; at < bytes.length; at += 2 + bytes.readUInt16BE(at + 2))
    if ([0xc0, 0xc1, 0xc2].includes(bytes[at + 1] ?? 0)) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)]
  throw new Error('no JPEG')
}

const click = (x: number, y: number) => [
  { type: 'mouseMove', x, y },
  { type: 'mouseDown', x, y },
  { type: 'mouseUp', x, y },
]
const keys = (text: string) => [...text].flatMap((key) => ['keyDown', 'keyUp'].map((type) => ({ type, key })))

describe.skipIf(process.env.CHROMIUM_PATH === undefined)(
  'the live view of a browser job that waits for a person',
  () => {
    let site: LoginSite
    beforeAll(async () => {
      site = await LoginSite.open()
    })
    afterAll(() => site.close())

    const env = () => ({
      ...{ CHROMIUM_PATH: process.env.HEADLESS_SHELL_PATH ?? '' },
      ALLOWED_PRIVATE_CONTENT_HOSTS: `${site.host},${site.host.replace('127.0.0.1', 'localhost')}`,
      ...{ BROWSER_JOBS: '6', LOG_LEVEL: 'trace' },
    })
    const handedOver = (api: Api, body: object = {}) => begun(api, { url: site.url('/'), actions: [handOver], ...body })
    const use = async (api: Api, id: string, events: readonly object[]) => {
      const answer = await api.post(`${path}/${id}/input`, { events })
      expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200, body: { accepted: events.length } })
    }
    /** Signs in on the page as a person does. */
    const signIn = async (api: Api, id: string): Promise<void> => {
      await use(api, id, [...click(100, 35), { type: 'text', text: 'ann' }, ...click(100, 85), ...keys(password)])
      await use(api, id, click(100, 135))
    }

    let world: World
    beforeAll(async () => {
      world = await World.start({ env: env() })
    }, 120_000)
    afterAll(() => world.stop())

    it("shows the page, forwards the person's input, and lets the job continue behind the login", async () => {
      const { api } = world
      const actions = [handOver, { type: 'click', selector: '#more' }]
      const id = await handedOver(api, { actions, snapshot: {}, viewport: { width: 800, height: 600 } })
      await waiting(api, id, handOver.message)
      const live = await api.stream(`${path}/${id}/live`)
      const first = await live.until(({ event }) => event === 'frame')
      expect(first.data).toMatchObject({ width: 800, height: 600, url: site.url('/') })
      expect(sizeOf(first.data.image)).toEqual([800, 600])
      expect((await api.get(`${path}/${id}`)).body.submitted).toBe(false)
      await signIn(api, id)
      await live.until(({ event, data }) => event === 'frame' && data.url === site.url('/inside?code=s3cr3t'))
      expect((await api.get(`${path}/${id}`)).body.submitted).toBe(true)
      expect((await api.post(`${path}/${id}/continue`, { note: 'Logged in.' })).status).toBe(200)
      expect((await live.all()).at(-1)).toMatchObject({ event: 'ended', data: { reason: 'continued' } })
      const job = await ended(api, id)
      expect(job).toMatchObject({
        ...{ status: 'completed', submitted: true },
        result: { title: 'Orders', finalUrl: site.url('/inside'), content: expect.stringContaining('Order 4711') },
        steps: [
          { type: 'navigate' },
          { type: 'handOver', url: site.url('/inside'), note: 'Logged in.' },
          { type: 'click' },
        ],
      })
      expect((await api.post(`${path}/${id}/input`, { events: click(1, 1) })).status).toBe(409)
      expect((await api.get(`${path}/${id}/live`)).status).toBe(409)
    })

    it.each([
      [
        'with the keyboard alone',
        [
          { type: 'keyDown', key: 'Tab' },
          { type: 'keyUp', key: 'Tab' },
        ],
      ],
      ['after a click, though its menu is in no picture', click(100, 35)],
    ])('lets an option be selected %s', async (way, focus) => {
      const { api } = world
      const at = `/choice-${focus.length}`
      site.pages.set(
        at,
        `<title>Sizes</title><body style="margin:0"><select onchange="document.getElementById('chosen').textContent = 'Chosen: ' + value"
        style="position:absolute;left:20px;top:20px;width:200px;height:30px"><option>small<option>medium<option>large</select>
        <p id="chosen" style="margin-top:80px">Nothing yet</p>`,
      )
      const id = await handedOver(api, { url: site.url(at) })
      await waiting(api, id, handOver.message)
      await use(api, id, focus)
      const pressed = ['ArrowDown', 'ArrowDown', 'Enter'].flatMap((key) =>
        ['keyDown', 'keyUp'].map((type) => ({ type, key })),
      )
      await use(api, id, pressed)
      await api.post(`${path}/${id}/continue`, {})
      expect((await ended(api, id)).result.content, way).toContain('Chosen: large')
    })

    it('keeps no typed password in the store, the log or an answer', async () => {
      const { api } = world
      const id = await handedOver(api, { snapshot: {}, screenshot: true })
      await waiting(api, id, handOver.message)
      await use(api, id, [...click(100, 35), ...keys('ann-of-the-hill'), ...click(100, 85), ...keys(password)])
      await use(api, id, [{ type: 'keyDown', key: 'Shift' }])
      const live = await api.stream(`${path}/${id}/live`)
      await live.until(({ event }) => event === 'frame')
      live.stop()
      await api.post(`${path}/${id}/continue`, {})
      const job = await ended(api, id)
      expect(job).toMatchObject({ status: 'completed', submitted: false })
      expect(job.result.snapshot.text).toContain('ann-of-the-hill')
      expect(JSON.stringify(job)).not.toContain(password)
      expect(await world.mentions(password)).toEqual({})
      expect(world.server.log()).not.toContain(password)
    })

    it('is not available to another tenant or an unknown key', async () => {
      const { api } = world
      const names = ['live-one', 'live-two']
      const made = await Promise.all(names.map((name) => api.post('/v1/tenants', { external_id: name, name })))
      const [one, two] = made.map(({ body }) => api.with({ 'x-tenant-id': body.id }))
      if (one === undefined || two === undefined) throw new Error('two tenants')
      const id = await handedOver(one)
      await waiting(one, id, handOver.message)
      expect((await two.get(`${path}/${id}/live`)).status).toBe(404)
      expect((await two.post(`${path}/${id}/input`, { events: click(1, 1) })).status).toBe(404)
      expect((await two.post(`${path}/${id}/continue`, {})).status).toBe(404)
      expect((await world.as('csk_other').get(`${path}/${id}/live`)).status).toBe(401)
      await one.post(`${path}/${id}/cancel`)
    })

    it.each([
      ['none', { events: [] }],
      ['too many', { events: Array.from({ length: 101 }, () => ({ type: 'mouseMove', x: 1, y: 1 })) }],
      ['one outside of any window', { events: [{ type: 'mouseMove', x: 1e9, y: -1 }] }],
      ['one that is unknown', { events: [{ type: 'evaluate', text: 'x' }] }],
      ['a text that is too long', { events: [{ type: 'text', text: 'x'.repeat(10_001) }] }],
      ['a field that is unknown', { events: [{ type: 'text', text: 'x', selector: '#password' }] }],
    ])('refuses input of %s', async (_what, body) => {
      expect((await world.api.post(`${path}/job_01kdvdna00fedcba9876543217/input`, body)).status).toBe(400)
    })

    it('tolerates unknown keys, and limits the rate of input', async () => {
      const { api } = world
      const id = await handedOver(api)
      await waiting(api, id, handOver.message)
      const odd = ['é', '\u0000', 'Control+Alt+Delete', 'NoSuchKey', '漢', '__proto__', '😀']
      await use(
        api,
        id,
        odd.flatMap((key) => ['keyUp', 'keyDown', 'keyDown'].map((type) => ({ type, key }))),
      )
      const flood = Array.from({ length: 100 }, (_, n) => ({ type: 'keyDown', key: 'abc'[n % 3] }))
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => api.post(`${path}/${id}/input`, { events: flood })),
      )
      const refused = answers.filter(({ status }) => status === 429)
      expect(refused.length).toBeGreaterThan(5)
      expect(refused[0]).toMatchObject({ body: { error: 'rate_limit_exceeded' } })
      expect(answers.every(({ status }) => [200, 429].includes(status))).toBe(true)
      await api.post(`${path}/${id}/continue`, {})
      expect((await ended(api, id)).status).toBe('completed')
    })

    it('follows the page to another site, and opens no new window', async () => {
      const { api } = world
      const other = `http://localhost:${site.host.split(':')[1]}/elsewhere`
      site.pages.set(
        '/elsewhere',
        '<body style="background:#123456"><a href="/" target="_blank" style="display:block;height:200px">y</a>',
      )
      site.pages.set('/way', `<body style="margin:0"><a href="${other}" style="display:block;height:200px">x</a>`)
      const id = await handedOver(api, { url: site.url('/way') })
      await waiting(api, id, handOver.message)
      const live = await api.stream(`${path}/${id}/live`)
      const { data: before } = await live.until(({ event }) => event === 'frame')
      await use(api, id, click(50, 50))
      const led = await live.until(({ event, data }) => event === 'frame' && data.url === other)
      await vi.waitFor(() => expect(live.frames.at(-1)?.data.image).not.toBe(before.image), patience)
      await use(api, id, click(50, 50))
      await vi.waitFor(() => expect(site.count('GET /')).toBeGreaterThan(0), patience)
      expect(led.data.url).toBe(other)
      await api.post(`${path}/${id}/continue`, {})
      expect(await ended(api, id)).toMatchObject({ status: 'completed', result: { finalUrl: other } })
      live.stop()
    })

    it('leads to a snapshot without the values of secret fields, also in frames and shadow roots', async () => {
      const { api } = world
      const hidden = `<input id="code" name="otp" value="424242"><script>
      const root = document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'open' })
      root.innerHTML = '<input aria-label="API key" value="key-777777">'
      Document.prototype.querySelectorAll = () => []
      Object.defineProperty(HTMLInputElement.prototype, 'value', { get: () => 'mine', set: () => {} })
    </script><iframe src="http://localhost:${site.host.split(':')[1]}/framed"></iframe><iframe src="/framed"></iframe>`
      site.pages.set('/hidden', hidden)
      site.pages.set('/framed', '<input type="password" value="framed-999999">')
      const id = await handedOver(api, { url: site.url('/hidden'), snapshot: {} })
      await waiting(api, id, handOver.message)
      await api.post(`${path}/${id}/continue`, {})
      const job = await ended(api, id)
      expect(job, JSON.stringify(job.error)).toMatchObject({ status: 'completed' })
      expect(job.result.snapshot.text).toContain('textbox')
      for (const secret of ['424242', 'key-777777', 'framed-999999'])
        expect(job.result.snapshot.text).not.toContain(secret)
    })

    it('can be ended for a page that hangs, and works for a huge page', async () => {
      const { api } = world
      site.pages.set('/huge', `<body>${'<div><input name="password"><p>x</p></div>'.repeat(6_000)}</body>`)
      site.pages.set('/still', '<button style="width:200px;height:200px" onclick="for (;;) {}">x</button>')
      const huge = await handedOver(api, { url: site.url('/huge'), snapshot: { max_tokens: 50 } })
      await waiting(api, huge, handOver.message)
      await use(api, huge, [...click(10, 10), { type: 'wheel', x: 10, y: 10, deltaY: 5_000 }])
      await api.post(`${path}/${huge}/continue`, {})
      expect((await ended(api, huge)).status).toBe('completed')
      const still = await handedOver(api, { url: site.url('/still') })
      await waiting(api, still, handOver.message)
      await use(api, still, click(50, 50))
      const flood = Array.from({ length: 100 }, () => ({ type: 'text', text: 'x'.repeat(1_000) }))
      const answers = await Promise.all([0, 1, 2, 3].map(() => api.post(`${path}/${still}/input`, { events: flood })))
      expect(answers.map(({ status }) => status)).toContain(429)
      expect((await api.get(`${path}/${still}`)).status).toBe(200)
      expect((await api.post(`${path}/${still}/cancel`)).body.status).toBe('cancelled')
      await vi.waitFor(
        async () => expect((await processTree(`--troupe-job=${still}`))?.pids ?? []).toEqual([]),
        patience,
      )
    })

    it('lets one of two concurrent requests continue the job, and accepts no input afterwards', async () => {
      const { api } = world
      const id = await handedOver(api, { actions: [handOver, { type: 'waitFor', milliseconds: 3_000 }] })
      await waiting(api, id, handOver.message)
      const go = () => api.post(`${path}/${id}/continue`, {})
      const both = await Promise.all([go(), go()])
      expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
      const late = await api.post(`${path}/${id}/input`, { events: click(100, 135) })
      expect(late).toMatchObject({ status: 409, body: { error: 'invalid_transition' } })
      expect(await ended(api, id)).toMatchObject({ status: 'completed', submitted: false })
    })

    it('refuses further readers beyond the limit of 50', async () => {
      const { api } = world
      const id = await handedOver(api)
      await waiting(api, id, handOver.message)
      const opened = await Promise.all(Array.from({ length: 60 }, () => api.fetch(`${path}/${id}/live`)))
      const statuses = opened.map(({ status }) => status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(50)
      expect(statuses.filter((status) => status === 429)).toHaveLength(10)
      for (const { body } of opened) await body?.cancel()
      await vi.waitFor(async () => {
        const another = await api.fetch(`${path}/${id}/live`)
        await another.body?.cancel()
        expect(another.status).toBe(200)
      }, patience)
      await api.post(`${path}/${id}/continue`, {})
      expect((await ended(api, id)).status).toBe('completed')
    })

    it('serves all readers although one of them reads nothing', async () => {
      const { api } = world
      const moving =
        '<body style="margin:0"><script>setInterval(() => { document.body.style.background = "#" + Math.random().toString(16).slice(2, 8) }, 50)</script>'
      site.pages.set('/moving', moving)
      const id = await handedOver(api, { url: site.url('/moving') })
      await waiting(api, id, handOver.message)
      const deaf = await api.fetch(`${path}/${id}/live`)
      const readers = await Promise.all(Array.from({ length: 40 }, () => api.stream(`${path}/${id}/live`)))
      for (const reader of readers) await vi.waitFor(() => expect(reader.frames.length).toBeGreaterThan(3), patience)
      for (const reader of readers) reader.stop()
      await api.post(`${path}/${id}/continue`, {})
      expect((await ended(api, id)).status).toBe('completed')
      await deaf.body?.cancel()
    })
  },
)
