import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { crc32, deflateSync } from 'node:zlib'
import { countOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { fieldOf, formOf } from '../form-of.ts'
import { sendError, sendJson } from '../respond.ts'

const maxImages = 10
const side = 8
const createdS = 1_767_225_600

/** Serves `/v1/images/edits`: as generated images, of a colour that the given images determine as well. */
export const editedImages = async (contentType: string, body: Buffer, response: ServerResponse): Promise<void> => {
  const form = await formOf(contentType, body)
  const field = (name: string): string => fieldOf(form, name)
  const images = (form?.files ?? []).filter((file) => ['image', 'image[]', 'mask'].includes(file.field))
  if (!field('model').startsWith('simulated')) return sendError(response, 404, 'model_not_found')
  if (images.length === 0) return sendError(response, 400, 'missing_image')
  const [prompt, n, response_format] = [field('prompt'), Number(field('n') || 1), field('response_format')]
  const seed = await runInSlices(digestOf(images.map(({ bytes }) => bytes)))
  generatedImages({ prompt, n, response_format }, response, seed)
}

/** Bytes that are hashed in one step. */
const stepBytes = 1024 * 1024

function* digestOf(parts: readonly Uint8Array[]): SlicedWork<string> {
  const hash = createHash('sha256')
  for (const part of parts)
    for (let at = 0; at < part.length; at += stepBytes) {
      hash.update(part.subarray(at, at + stepBytes))
      yield
    }
  return hash.digest('hex')
}

/**
 * Serves `/v1/images/generations`: small images in one colour, determined by the prompt, the index of the image and a
 * seed.
 */
export const generatedImages = (request: WireObject, response: ServerResponse, seed = ''): void => {
  const prompt = textOf(request.prompt)
  const count = request.n === undefined || request.n === null ? 1 : countOf(request.n)
  if (prompt === '') sendError(response, 400, 'missing_prompt')
  else if (count < 1 || count > maxImages) sendError(response, 400, 'invalid_n')
  else {
    const data = Array.from({ length: count }, (_, at) => {
      const base64 = picture(`${prompt} ${at}${seed}`).toString('base64')
      const shown =
        request.response_format === 'url' ? { url: `data:image/png;base64,${base64}` } : { b64_json: base64 }
      return { ...shown, revised_prompt: prompt }
    })
    sendJson(response, 200, { created: createdS, data, output_format: 'png', size: `${side}x${side}` })
  }
}

/** A PNG of 8 by 8 pixels. */
const picture = (seed: string): Buffer => {
  const colour = createHash('sha256').update(seed).digest().subarray(0, 3)
  const row = Buffer.concat([Buffer.from([0]), ...Array.from({ length: side }, () => colour)])
  const rows = Buffer.concat(Array.from({ length: side }, () => row))
  const head = Buffer.alloc(13)
  head.writeUInt32BE(side, 0)
  head.writeUInt32BE(side, 4)
  // 8 bits per channel, RGB
  head.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const around = Buffer.alloc(8)
  around.writeUInt32BE(data.length, 0)
  around.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)])
}
