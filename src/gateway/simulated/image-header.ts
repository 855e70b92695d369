/** Format and size, in pixels, from the header of an image. */
export interface ImageHeader {
  readonly format: 'PNG' | 'JPEG' | 'GIF' | 'WEBP' | 'HEIC'
  readonly width: number
  readonly height: number
}

/** Reads an image's header; null for other formats, and for bytes that end before the size. */
export const imageHeader = (bytes: Buffer): ImageHeader | null => {
  const reader = readers.find(({ is }) => is(bytes))
  const size = reader?.size(bytes)
  return reader === undefined || size === undefined ? null : { format: reader.format, ...size }
}

type Size = Pick<ImageHeader, 'width' | 'height'>

interface Reader {
  readonly format: ImageHeader['format']
  is(bytes: Buffer): boolean
  size(bytes: Buffer): Size | undefined
}

const wordAt = (bytes: Buffer, at: number, length: number): string => bytes.toString('latin1', at, at + length)

const when = (bytes: Buffer, length: number, read: () => Size): Size | undefined =>
  bytes.length < length ? undefined : read()

const readers: readonly Reader[] = [
  {
    format: 'PNG',
    is: (bytes) => wordAt(bytes, 0, 8) === '\x89PNG\r\n\x1a\n',
    size: (bytes) => when(bytes, 24, () => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) })),
  },
  {
    format: 'GIF',
    is: (bytes) => /^GIF8[79]a$/.test(wordAt(bytes, 0, 6)),
    size: (bytes) => when(bytes, 10, () => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) })),
  },
  { format: 'JPEG', is: (bytes) => wordAt(bytes, 0, 3) === '\xff\xd8\xff', size: (bytes) => jpegSize(bytes) },
  {
    format: 'WEBP',
    is: (bytes) => wordAt(bytes, 0, 4) === 'RIFF' && wordAt(bytes, 8, 4) === 'WEBP',
    size: (bytes) => when(bytes, 30, () => webpSize(bytes)),
  },
  {
    format: 'HEIC',
    is: (bytes) => wordAt(bytes, 4, 4) === 'ftyp' && /^(hei|hev|mif1|msf1)/.test(wordAt(bytes, 8, 4)),
    size: (bytes) => heicSize(bytes),
  },
]

/** Skips segments up to the first start of frame (SOF0…SOF15 without DHT, JPG and DAC). */
const jpegSize = (bytes: Buffer): Size | undefined => {
  let at = 2
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

const webpSize = (bytes: Buffer): Size => {
  const chunk = wordAt(bytes, 12, 4)
  if (chunk === 'VP8X') return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) }
  if (chunk === 'VP8L') {
    const bits = bytes.readUInt32LE(21)
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
  }
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
}

/** Returns the largest of the sizes in the file (`ispe`): smaller ones are of thumbnails and tiles. */
const heicSize = (bytes: Buffer): Size | undefined => {
  let largest: Size | undefined
  for (let at = bytes.indexOf('ispe'); at >= 0 && at + 16 <= bytes.length; at = bytes.indexOf('ispe', at + 4)) {
    const size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) }
    if (largest === undefined || size.width * size.height > largest.width * largest.height) largest = size
  }
  return largest
}
