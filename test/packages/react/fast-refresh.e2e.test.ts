import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Service, startService } from '#scripts/services/service.ts'
import { closePages, openBrowser } from '#test/e2e/pages/open-browser.ts'
import { World } from '#test/e2e/world.ts'
import { lend, ours, stranger } from '../packed.ts'

/** What the page sends: its answer takes a minute, longer than two edits on a slow machine. */
const said = `slow please${' on'.repeat(300)}`

/** The component that is edited: with a heading, and hooks of its own before those of the session. */
const chat = (heading: string, hooks = '') => `
import { textOf } from '@troupe/client'
import { useMessages, useRun } from '@troupe/react'
import { useState } from 'react'

export const Chat = () => {
  ${hooks}
  const messages = useMessages()
  const { send } = useRun()
  return (
    <main>
      <h1>${heading}</h1>
      <ul>{messages.map((message) => <li key={message.id}>{textOf(message)}</li>)}</ul>
      <button onClick={() => send('${said}')}>Send</button>
    </main>
  )
}
`

const main = `
import { Troupe } from '@troupe/client'
import { TroupeProvider } from '@troupe/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Chat } from './chat.tsx'

const { baseUrl, token } = document.body.dataset
const troupe = new Troupe({ baseUrl, token: async () => JSON.parse(token) })
createRoot(document.getElementById('root')).render(
  <StrictMode><TroupeProvider client={troupe}><Chat /></TroupeProvider></StrictMode>,
)
`

const config = `
import react from '@vitejs/plugin-react'

export default {
  plugins: [react()],
  resolve: { alias: ${JSON.stringify({
    '@troupe/client': ours('packages/client/src/index.ts'),
    '@troupe/react': ours('packages/react/src/index.ts'),
  })}, dedupe: ['react', 'react-dom'] },
  server: { fs: { strict: false } },
  // a dependency that Vite discovers late reloads the page, which ends its session
  optimizeDeps: { include: ['react', 'react/jsx-dev-runtime', 'react-dom/client'], noDiscovery: true },
}
`

/** Saves the component at once, as editors do: Vite reloads the page if it reads a file that is being written. */
const save = (component: string): void => {
  const written = join(folder, 'node_modules', 'chat.tsx')
  writeFileSync(written, component)
  renameSync(written, join(folder, 'chat.tsx'))
}

let world: World
let folder = ''
let vite: Service
beforeAll(async () => {
  ;[world, folder] = await Promise.all([World.start(), stranger('@vitejs/plugin-react@6.3.0')])
  for (const name of ['vite', 'react', 'react-dom']) lend(folder, name)
  const tenant = await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })
  const owner = { tenant_id: tenant.body.id, external_user_id: 'ada' }
  const token = await world.api.post('/v1/client-tokens', owner)
  const files = {
    'index.html': `<!doctype html><title>Chat</title><body data-base-url="${world.url}" data-token='${JSON.stringify(token.body)}'><div id="root"></div><script type="module" src="/main.tsx"></script>`,
    'vite.config.js': config,
    'main.tsx': main,
    'chat.tsx': chat('Before'),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  vite = await startService({
    name: 'vite',
    command: process.execPath,
    env: () => process.env,
    args: (port) => [ours('node_modules/vite/bin/vite.js'), folder, '--host', '127.0.0.1', '--port', String(port)],
    url: (port) => `http://127.0.0.1:${port}`,
  })
})
afterAll(async () => {
  await closePages(await openBrowser())
  await vite.stop()
  rmSync(folder, { recursive: true })
  await world.stop()
})

it('an edit of a component while a turn streams keeps the session, its one stream, and every word once', async () => {
  // a repeated attempt begins where the first one did
  save(chat('Before'))
  const page = await (await (await openBrowser()).newContext()).newPage()
  const requests: string[] = []
  const errors: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/v1/') && request.method() !== 'OPTIONS')
      requests.push(`${request.method()} ${pathname.split('/').at(-1)}`)
  })
  page.on('pageerror', ({ message }) => errors.push(message))
  await page.goto(vite.url)
  await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }))
  const heading = () => page.getByRole('heading').textContent()
  const answer = async () => (await page.getByRole('listitem').allTextContents())[1] ?? ''
  await expect.poll(heading).toBe('Before')
  await page.getByRole('button').click()
  await expect.poll(answer).not.toBe('')
  const shown: string[] = []
  // the second edit adds a hook, after which React mounts the component anew
  for (const [name, hooks] of [
    ['After', ''],
    ['At last', 'useState(0)'],
  ] as const) {
    await expect.poll(async () => (await answer()).length).toBeGreaterThan((shown.at(-1) ?? '').length)
    // a watcher of files on a busy machine misses some writes: the file is saved again until it has seen one
    const saved = async () => {
      save(chat(name, hooks))
      return heading()
    }
    await expect.poll(saved, { interval: 500 }).toBe(name)
    shown.push(await answer())
  }
  const [session] = (await world.api.get('/v1/sessions')).body.data
  // both edits fell into the answer
  await expect.poll(async () => (await answer()).length).toBeGreaterThan((shown.at(-1) ?? '').length)
  await world.api.post(`/v1/sessions/${session.id}/cancel`, {})
  const ended = async () => (await world.api.log(session.id)).find(({ event_type }) => event_type === 'turn.failed')
  await expect.poll(ended).toBeDefined()
  const whole = String(Object((await ended())?.payload.output).text)
  for (const text of shown) expect(whole.startsWith(text) && text !== '' && text.length < whole.length, text).toBe(true)
  await expect.poll(() => page.getByRole('listitem').allTextContents()).toEqual([said, whole])
  expect(requests.toSorted()).toEqual(['GET stream', 'POST sessions', 'POST turns'])
  expect(await page.evaluate(() => Object(globalThis).isSamePage)).toBe(true)
  expect(errors).toEqual([])
})
