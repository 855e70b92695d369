import { isObject } from '#outgoing/wire.ts'
import { openedPdf } from '../open-pdf.ts'
import { type Pixels, pngOf, shrunk } from './png.ts'

/** A page of a PDF file to be read by a model: how many pages there are, and the page's images as base64. */
export type ScannedPage = { readonly page_count: number; readonly images: readonly string[] }

/** Largest images of a page that are read; scanners write a page as one image, or as a few strips. */
const maxImages = 8
/** Images of a page that are decoded at most, since all of them are in memory together. */
const maxDecoded = 64
/** Length of the longer side of an image in pixels: models read no more detail. */
const maxPixels = 2_000
/** Smaller images are rules, bullets and logos. */
const minPixels = 64

/** Extracts the images of a page of a PDF file, as PNG in the order in which they are painted. */
export const scannedPage = async ({
  bytes,
  page: number,
}: {
  readonly bytes: Uint8Array
  readonly page: number
}): Promise<ScannedPage> => {
  const document = await openedPdf(bytes)
  const images = number > document.numPages ? [] : await imagesOf(await document.getPage(number))
  const largest = images.toSorted((a, b) => b.width * b.height - a.width * a.height).slice(0, maxImages)
  const chosen = images.filter((image) => largest.includes(image))
  return {
    page_count: document.numPages,
    images: chosen.map((image) => pngOf(shrunk(image, maxPixels)).toString('base64')),
  }
}

type PdfPage = Awaited<ReturnType<Awaited<ReturnType<typeof openedPdf>>['getPage']>>

const imagesOf = async (page: PdfPage): Promise<readonly Pixels[]> => {
  const { getResolvedPDFJS } = await import('unpdf')
  const { OPS } = await getResolvedPDFJS()
  const { fnArray, argsArray } = await page.getOperatorList()
  const images: Pixels[] = []
  const seen = new Set<string>()
  for (const [at, operation] of fnArray.entries()) {
    if (images.length === maxDecoded) break
    if (operation !== OPS.paintImageXObject && operation !== OPS.paintInlineImageXObject) continue
    const [named]: readonly unknown[] = argsArray[at] ?? []
    // an image that is painted again is read once
    if (typeof named === 'string' && seen.has(named)) continue
    if (typeof named === 'string') seen.add(named)
    const pixels = pixelsOf(typeof named === 'string' ? await objectOf(page, named) : named)
    if (pixels !== null && Math.min(pixels.width, pixels.height) >= minPixels) images.push(pixels)
  }
  return images
}

const objectOf = (page: PdfPage, name: string): Promise<unknown> =>
  new Promise((resolve) => (name.startsWith('g_') ? page.commonObjs : page.objs).get(name, resolve))

/** Returns the pixels of an image of the PDF library; null for one that has none. */
const pixelsOf = (image: unknown): Pixels | null => {
  if (!isObject(image)) return null
  const { width, height, data } = image
  if (typeof width !== 'number' || typeof height !== 'number' || !isBytes(data)) return null
  if (data.length === Math.ceil(width / 8) * height)
    return { width, height, channels: 1, data: greyOf(data, width, height) }
  const channels = data.length / (width * height)
  return channels === 1 || channels === 3 || channels === 4 ? { width, height, channels, data } : null
}

const isBytes = (value: unknown): value is Uint8Array | Uint8ClampedArray =>
  value instanceof Uint8Array || value instanceof Uint8ClampedArray

/** Converts an image of one bit for each pixel, as fax machines write: 1 is white. */
const greyOf = (bits: Uint8Array | Uint8ClampedArray, width: number, height: number): Uint8Array => {
  const row = Math.ceil(width / 8)
  const grey = new Uint8Array(width * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) grey[y * width + x] = (((bits[y * row + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1) * 255
  }
  return grey
}
