import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { startService } from '../services/service.ts'
import type { ImageRoot } from './chroot.ts'
import { type BrowserJob, browserJob } from './schema.ts'

/**
 * The page says in its text what it can draw: a character that no font has is drawn as the same box as an unassigned
 * one, and an emoji of a colour font has coloured pixels.
 */
const page = `<!doctype html><meta charset="utf-8"><title>Fonts</title><main><h1>日本語とひらがな 🎭🚀</h1><p id="fonts"></p></main><script>
const drawn = (text) => {
  const context = Object.assign(document.createElement('canvas'), { width: 64, height: 64 }).getContext('2d')
  context.font = '40px sans-serif'
  context.fillText(text, 4, 48)
  return [...context.getImageData(0, 0, 64, 64).data]
}
const missing = drawn('\\u{10FFFD}').join()
const has = (text) => drawn(text).join() !== missing
const coloured = (pixels) => pixels.some((value, at) => at % 4 === 0 && (value !== pixels[at + 1] || value !== pixels[at + 2]))
document.getElementById('fonts').textContent =
  'Japanese is ' + (has('日') && has('ひ') ? 'drawn' : 'missing') + ', emoji are ' + (coloured(drawn('🎭')) ? 'drawn' : 'missing') + ', as this page of fonts says.'
</script>`

/**
 * Runs a browser job against a server of the image, and lists the stuck work of that server.
 *
 * @returns the job's screenshot (WebP) @throws when text is not drawn, or work is stuck
 */
export const runsBrowserJob = async (image: ImageRoot): Promise<Uint8Array> => {
  const site = createServer((_, response) => response.setHeader('content-type', 'text/html; charset=utf-8').end(page))
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  const address = site.address()
  const host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  const key = `csk_${randomBytes(32).toString('base64url')}`
  const server = await startService({
    name: 'image',
    command: 'chroot',
    env: () => ({ PATH: process.env.PATH }),
    args: (port) => {
      const env = {
        PORT: String(port),
        DATA_DIR: '/tmp/jobs',
        BOOTSTRAP_SECRET_KEY: key,
        ALLOWED_PRIVATE_CONTENT_HOSTS: host,
      }
      return image.command(['troupe', 'start'], { ...env, HOST: '127.0.0.1' }).slice(1)
    },
    url: (port) => `http://127.0.0.1:${port}`,
  })
  try {
    const screenshot = await screenshotOf(server.url, key, `http://${host}/`)
    const { stdout, stderr } = image.run(['troupe', 'stuck', '--url', server.url], { SECRET_KEY: key })
    if (stdout !== 'no stuck work\n') throw new Error(`troupe stuck: ${stdout}${stderr}`)
    return screenshot
  } finally {
    await server.stop()
    site.close()
  }
}

const screenshotOf = async (url: string, key: string, visited: string): Promise<Uint8Array> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const call = async (path: string, body?: object): Promise<BrowserJob> => {
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    return browserJob(await (await fetch(new URL(path, url), init)).json())
  }
  let job = await call('/api/v1/web/browse', { url: visited, screenshot: true })
  for (let poll = 0; poll < 300 && (job.status === 'queued' || job.status === 'running'); poll++) {
    await pause(200)
    job = await call(`/api/v1/web/browse/${job.id}`)
  }
  const text = JSON.stringify(job)
  if (!text.includes('Japanese is drawn, emoji are drawn')) throw new Error(`The browser job: ${text.slice(0, 2000)}`)
  return Buffer.from(job.result?.screenshot?.split(',')[1] ?? '', 'base64')
}
