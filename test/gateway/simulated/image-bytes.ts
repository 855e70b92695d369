/* The first bytes of images of each format, as short as the header reader allows. */

const u16be = (value: number) => [value >> 8, value & 255]
const u32be = (value: number) => [...u16be(value >>> 16), ...u16be(value & 0xffff)]
const u16le = (value: number) => u16be(value).reverse()
const u24le = (value: number) => [value & 255, (value >> 8) & 255, value >> 16]
const text = (value: string) => [...value].map((letter) => letter.charCodeAt(0))

export const png = (width: number, height: number): Buffer =>
  Buffer.from([0x89, ...text('PNG\r\n\x1a\n'), ...u32be(13), ...text('IHDR'), ...u32be(width), ...u32be(height), 8, 2])

export const gif = (width: number, height: number): Buffer =>
  Buffer.from([...text('GIF89a'), ...u16le(width), ...u16le(height), 0, 0, 0])

/** With a segment of application data before the frame, as in files of cameras. */
export const jpeg = (width: number, height: number): Buffer => {
  const preface = [0xff, 0xe1, ...u16be(600), ...Array.from({ length: 598 }, () => 0xc0)]
  const tables = [0xff, 0xc4, ...u16be(4), 0, 0]
  return Buffer.from([
    0xff,
    0xd8,
    ...preface,
    ...tables,
    0xff,
    0xc2,
    ...u16be(11),
    8,
    ...u16be(height),
    ...u16be(width),
    3,
  ])
}

const webp = (chunk: string, content: readonly number[]): Buffer =>
  Buffer.from([...text('RIFF'), 0, 0, 0, 0, ...text(`WEBP${chunk}`), 0, 0, 0, 0, ...content, 0, 0, 0, 0, 0, 0])

export const webpLossy = (width: number, height: number): Buffer =>
  webp('VP8 ', [0, 0, 0, 0x9d, 1, 0x2a, ...u16le(width), ...u16le(height)])

export const webpLossless = (width: number, height: number): Buffer => {
  const bits = Buffer.alloc(4)
  bits.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0)
  return webp('VP8L', [0x2f, ...bits])
}

export const webpExtended = (width: number, height: number): Buffer =>
  webp('VP8X', [0, 0, 0, 0, ...u24le(width - 1), ...u24le(height - 1)])

/** With the size of a thumbnail before the size of the image. */
export const heic = (width: number, height: number): Buffer =>
  Buffer.from([
    ...[...u32be(24), ...text('ftypheic'), ...u32be(0), ...text('mif1heic')],
    ...[...u32be(20), ...text('ispe'), ...u32be(0), ...u32be(16), ...u32be(12)],
    ...[...u32be(20), ...text('ispe'), ...u32be(0), ...u32be(width), ...u32be(height)],
  ])
