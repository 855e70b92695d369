import { deflateSync } from 'node:zlib'
import { visionUseCases } from '#gateway/apis/vision/vision-use-cases.ts'
import type { Route, Routes } from '#gateway/call/routes.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { arrayOf, objectOf, textOf } from '#outgoing/wire.ts'
import type { WireFormat } from '#specs/data/providers.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { vision } from '#specs/resources/gateway/vision.ts'
import type { Sent } from '#test/transport/api/serving.ts'
import { formServer } from '../apis/form-server.ts'
import { type Script, ScriptedChat, saying } from '../apis/scripted-chat.ts'

/** A complete image of one colour with header, pixels and checksums. */
export const pngOf = (width: number, height: number, noise = 0): Buffer => {
  const rows = Buffer.alloc((width * 3 + 1) * height)
  for (let at = 0; at < noise; at += 1) rows[at % rows.length] = (at * 2_654_435_761) % 251
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const magic = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([magic, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}

const chunk = (name: string, content: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), content])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc(body))
  return Buffer.concat([length, body, sum])
}

const crc = (bytes: Buffer): number => {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  }
  return (sum ^ 0xffffffff) >>> 0
}

/** The same image with trailing bytes up to this size. */
export const ofSize = (image: Buffer, bytes: number): Buffer =>
  Buffer.concat([image, Buffer.alloc(bytes - image.length)])

/** Models of the tests with their provider, format and key source. */
const models: Readonly<Record<string, readonly [provider: string, format: WireFormat, source: Route['source']]>> = {
  'gpt-4o-mini': ['openai', 'openai', 'managed'],
  'claude-haiku-4-5': ['anthropic', 'anthropic', 'managed'],
  'gemini-2.5-flash': ['google', 'google', 'byok'],
  'simulated-1': ['simulated', 'openai', 'simulated'],
}

const routesOf = (configured: readonly string[]): Routes => ({
  resolve: (_, requested) => {
    const model = requested.slice(requested.indexOf('/') + 1)
    const found = models[model]
    if (found === undefined) throw new ServiceError('model_not_found', { param: 'model' })
    const [provider, format, source] = found
    if (!configured.includes(provider)) throw new ServiceError('provider_not_configured', { param: 'model' })
    return [{ model, provider, format, source, baseUrl: '', apiKey: null, connectionId: null }]
  },
})

/** The vision operations over a scripted chat. */
export const visionWorld = (
  scripts: readonly Script[] = [{ deltas: saying('A red ', 'square.') }],
  configured: readonly string[] = ['openai', 'anthropic', 'google', 'simulated'],
) => {
  const chat = new ScriptedChat(...scripts)
  const guard = openSsrfGuard({ allowedPrivateHosts: [] })
  const send = formServer(vision, visionUseCases({ chat, routes: routesOf(configured), guard }))
  /** The parts of the last message to the model. */
  const parts = () => arrayOf(objectOf(arrayOf(chat.last.messages).at(-1)).content).map(objectOf)
  return {
    chat,
    send,
    close: () => guard.close(),
    urls: () =>
      parts()
        .filter(({ type }) => type === 'image_url')
        .map(({ image_url }) => textOf(objectOf(image_url).url)),
    prompt: () => textOf(parts().find(({ type }) => type === 'text')?.text),
  }
}

/** A multipart form as browsers send it. */
export const form = (
  fields: Readonly<Record<string, string>>,
  files: readonly (readonly [field: string, bytes: Buffer, type: string])[],
): Pick<Sent, 'body' | 'headers' | 'method'> => {
  const texts = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  )
  const parts = files.flatMap(([field, bytes, type]) => [
    Buffer.from(
      `--edge\r\ncontent-disposition: form-data; name="${field}"; filename="x"\r\ncontent-type: ${type}\r\n\r\n`,
    ),
    bytes,
    Buffer.from('\r\n'),
  ])
  return {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=edge' },
    body: Buffer.concat([...texts, ...parts, Buffer.from('--edge--\r\n')]),
  }
}
