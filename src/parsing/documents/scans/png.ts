import { crc32, deflateSync } from 'node:zlib'

/** Pixels of an image, row by row: one byte for grey, three for colours, four with opacity. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly channels: 1 | 3 | 4
  readonly data: Uint8Array | Uint8ClampedArray
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Colour types of PNG by the number of channels. */
const colourTypes = { 1: 0, 3: 2, 4: 6 } as const

/** Encodes an image as PNG (ISO/IEC 15948), without filters. */
export const pngOf = ({ width, height, channels, data }: Pixels): Buffer => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  header[9] = colourTypes[channels]
  const row = width * channels
  const rows = Buffer.alloc((row + 1) * height)
  for (let y = 0; y < height; y++) rows.set(data.subarray(y * row, (y + 1) * row), y * (row + 1) + 1)
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const chunk = (type: string, content: Uint8Array): Buffer => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}

/** Shrinks an image by averaging squares of pixels, so that neither side is longer than `max`. */
export const shrunk = (pixels: Pixels, max: number): Pixels => {
  const { width, height, channels, data } = pixels
  const factor = Math.ceil(Math.max(width, height) / max)
  if (factor <= 1) return pixels
  const [columns, lines] = [Math.max(1, Math.floor(width / factor)), Math.max(1, Math.floor(height / factor))]
  const small = new Uint8Array(columns * lines * channels)
  for (let y = 0; y < lines; y++) {
    for (let x = 0; x < columns; x++) {
      for (let channel = 0; channel < channels; channel++) {
        let [sum, count] = [0, 0]
        for (let dy = y * factor; dy < Math.min(height, (y + 1) * factor); dy++) {
          for (let dx = x * factor; dx < Math.min(width, (x + 1) * factor); dx++) {
            sum += data[(dy * width + dx) * channels + channel] ?? 0
            count += 1
          }
        }
        small[(y * columns + x) * channels + channel] = sum / count
      }
    }
  }
  return { width: columns, height: lines, channels, data: small }
}
