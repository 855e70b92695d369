import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { atNight, drawnOf } from '#test/setup/at-night.ts'
import { LoopProbe, limitOf } from '../loop-probe.ts'
import { World } from '../world.ts'

/*
 * Unusual and hostile forms, sent to every operation that accepts one: whatever the answer, no turn of the event loop is long.
 */

const mb = 1024 * 1024
const boundary = 'b'.repeat(70)
const mark = `--${boundary}`
const type = `multipart/form-data; boundary=${boundary}`

const head = (name: string, rest = ''): string =>
  `${mark}\r\nContent-Disposition: form-data; name="${name}"${rest}\r\n\r\n`
const field = (name: string, value: string): string => `${head(name)}${value}\r\n`
const upload = (name: string, bytes: string): string =>
  `${head(name, '; filename="a.wav"\r\nContent-Type: audio/wav')}${bytes}\r\n`
const form = (...parts: readonly string[]): string => `${parts.join('')}${mark}--\r\n`
const many = (count: number, part: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => part(at)).join('')

/** An operation that accepts a form: its required fields, a field for text, and the field of its file. */
interface FormOperation {
  readonly path: string
  readonly usual: string
  readonly text: string
  readonly file: string
}

const forms: Readonly<Record<string, (operation: FormOperation) => string>> = {
  'a text of 20 MB': ({ usual, text }) => form(usual, field(text, 'many things, and more é '.repeat(0.8 * mb))),
  'a text of 7 MB that is JSON, deep': ({ usual, text }) => form(usual, field(text, '['.repeat(7 * mb))),
  'a text of 7 MB that is JSON, wide': ({ usual, text }) => form(usual, field(text, `[${'{},'.repeat(2 * mb)}1]`)),
  'a text of 7 MB of numbers': ({ usual, text }) => form(usual, field(text, '1'.repeat(7 * mb))),
  '128 parts': () => form(many(128, (at) => field(`f${at}`, 'x'.repeat(60_000)))),
  '100,000 parts': () => form(many(100_000, (at) => field(`f${at}`, 'x'))),
  'one name 120 times': () => form(many(120, () => field('timestamp_granularities[]', 'word'.repeat(10_000)))),
  'a name that is nested': ({ usual }) => form(usual, field(`a${'[b]'.repeat(5_000)}`, 'x')),
  'a head of 7 MB': () => form(`${mark}\r\n${'X-A: b\r\n'.repeat(mb)}\r\nx\r\n`),
  'heads of 16 KB': () =>
    form(many(120, () => `${mark}\r\nContent-Disposition: form-data${'; a="\\"'.repeat(2_000)}\r\n\r\nx\r\n`)),
  'a part without an end of its head': () => form(`${mark}\r\n${'x'.repeat(7 * mb)}\r\n`),
  'its boundary, all but the last letter': ({ text }) => form(field(text, `\r\n--${'b'.repeat(69)}`.repeat(100_000))),
  'letters of its boundary': ({ text }) => form(field(text, 'b'.repeat(7 * mb))),
  'line ends': ({ text }) => form(field(text, '\r\n'.repeat(3.5 * mb))),
  'nothing but boundaries': () => `${mark}\r\n`.repeat(90_000),
  'no boundary': () => 'x'.repeat(20 * mb),
  'no end': ({ usual, text }) => `${usual}${head(text)}${'x'.repeat(7 * mb)}`,
  'audio of 20 MB that is none': ({ usual, file }) => form(usual, upload(file, '\xff'.repeat(10 * mb))),
  'an image of 7 MB that is none': ({ usual, file }) => form(usual, upload(file, 'GIF89a'.repeat(mb))),
  'a document of 7 MB that is none': ({ usual, file }) => form(usual, upload(file, '%PDF-1.7 obj '.repeat(0.5 * mb))),
  nothing: () => '',
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text))

const sources = '/v1/knowledge-bases'
const speech = { usual: field('model', 'simulated-stt'), text: 'prompt', file: 'file' }
const vision = { usual: field('model', 'simulated-1'), text: 'prompt', file: 'images' }
const edit = { ...vision, file: 'image' }
const operations: readonly FormOperation[] = [
  { path: '/v1/audio/transcriptions', ...speech },
  { path: '/v1/audio/translations', ...speech },
  { path: '/v1/vision', ...vision },
  { path: '/v1/vision/describe', ...vision },
  { path: '/v1/vision/ocr', ...vision },
  { path: '/v1/vision/classify', ...vision },
  { path: '/v1/images/edits', ...edit },
  { path: '/v1/images/variations', ...edit },
  { path: `${sources}/{base}/sources`, usual: field('title', 't'), text: 'text', file: 'file' },
  { path: '/v1/files', usual: field('purpose', 'assistants'), text: 'purpose', file: 'file' },
  { path: `${sources}/{base}/sources/{source}/sync`, usual: '', text: 'text', file: 'file' },
]

describe('a form blocks no other request for 50 ms', () => {
  const probe = new LoopProbe()
  let world: World
  const ids = { base: '', source: '' }
  beforeAll(async () => {
    world = await World.start({ env: probe.env })
    ids.base = (await world.api.post(sources, { name: 'a' })).body.id
    const small = form(
      field('title', 't'),
      `${head('file', '; filename="a.txt"\r\nContent-Type: text/plain')}words\r\n`,
    )
    const made = await world.api.upload(`${sources}/${ids.base}/sources`, bytesOf(small), type)
    ids.source = JSON.parse(await made.text()).id
    expect(made.status).toBe(201)
  }, 240_000)
  afterAll(async () => {
    await world.stop()
    probe.close()
  })

  const pathOf = (path: string): string => path.replace('{base}', ids.base).replace('{source}', ids.source)

  const send = async (path: string, body: string, contentType: string): Promise<void> => {
    const answer = await world.api.upload(pathOf(path), bytesOf(body), contentType)
    await answer.text()
    // a form that is refused unread may break the connection
    expect(answer.status).toBeLessThan(500)
  }

  it('at every operation that declares one, of which none is missing here', async () => {
    const { body } = await world.api.get('/openapi.json')
    const declared = Object.entries(body.paths).filter(([, methods]) =>
      JSON.stringify(methods).includes('"multipart/form-data"'),
    )
    expect(declared).toHaveLength(operations.length)
  })

  // one parser reads all forms: by day each form goes to two operations and each operation gets a quarter of them, at night all
  const isChosen = (nth: number, at: number): boolean => atNight || (nth + at) % 4 === 0
  const chosenFor = Object.entries(forms).map(
    ([name, formOf], nth) => [name, formOf, operations.filter((_, at) => isChosen(nth, at))] as const,
  )

  it.each(chosenFor)('with %s', async (_, formOf, chosen) => {
    for (const operation of chosen) {
      const { path } = operation
      const body = formOf(operation)
      const seen = await probe.heldMs(world, () => send(path, body, type))
      expect(Math.min(...seen), `${path}: ${seen.map(Math.round)} ms`).toBeLessThan(limitOf(seen))
    }
  })

  it.each([
    ['deep', `a${'[b]'.repeat(2 * mb)}=1`],
    ['of many fields', 'a=1&'.repeat(1.7 * mb)],
    ['of escapes', `a=${'%41'.repeat(2 * mb)}`],
  ])('with a urlencoded form, which no operation accepts, %s', async (_, body) => {
    const paths = [...operations.map((operation) => operation.path), '/v1/chat/completions', '/v1/sessions']
    for (const path of drawnOf(paths, 3)) {
      const seen = await probe.heldMs(world, () => send(path, body, 'application/x-www-form-urlencoded'))
      expect(Math.min(...seen), `${path}: ${seen.map(Math.round)} ms`).toBeLessThan(limitOf(seen))
    }
  })
})
