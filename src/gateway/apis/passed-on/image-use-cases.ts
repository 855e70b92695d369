import type { UploadedFile } from '#actors/call/call.ts'
import type { UseCasesOf } from '#actors/call/use-cases.ts'
import type { GivenImages } from '#gateway/providers/image-format.ts'
import { ImageBytes } from '#gateway/vision/image-bytes.ts'
import { badImage, byUrl, fileSource } from '#gateway/vision/image-sources.ts'
import type { RemoteImages } from '#gateway/vision/remote-image.ts'
import type { BodyOf } from '#specs/index.ts'
import { maxEditImageBytes, maxEditImages, variationPrompt } from '#specs/resources/gateway/images.ts'
import { imageCall } from './image-calls.ts'
import { notStreamed, type PassedOnParts, passedOn } from './passed-on-call.ts'

/** Dependencies of the images API. */
export interface ImageParts extends PassedOnParts {
  readonly remote: RemoteImages
}

/** Types of images that all providers with edits accept. */
const limits = { types: ['image/png', 'image/jpeg', 'image/webp'], maxBytes: maxEditImageBytes }

/** Use-cases of OpenAI's images API. */
export const imageUseCases = ({ documents, remote }: ImageParts): UseCasesOf<'images'> => ({
  'images.generate': (call) => {
    const { body } = call
    if ('stream' in body && body.stream === true) throw notStreamed('Images')
    return passedOn(documents, imageCall('images.generate', null), { call, body })
  },
  'images.edit': async (call) => {
    const { images: _images, mask: _mask, ...body } = call.body
    // the fields of forms that the declaration does not have are texts
    if ('stream' in body && (body.stream === true || body.stream === 'true')) throw notStreamed('Images')
    const given = await givenImages(remote, call)
    return passedOn(documents, imageCall('images.edit', given), { call, body })
  },
  'images.vary': async (call) => {
    const given = await givenImages(remote, { ...call, body: {} })
    const body = { ...call.body, prompt: variationPrompt }
    return passedOn(documents, imageCall('images.vary', given), { call, body })
  },
})

interface EditCall {
  readonly body: Pick<BodyOf<'images.edit'>, 'images' | 'mask'>
  readonly files: readonly UploadedFile[]
  readonly signal: AbortSignal
}

/** @throws {ServiceError} `bad_request`, `unsupported_format`, `image_too_large`, each naming the image. */
const givenImages = async (remote: RemoteImages, { body, files, signal }: EditCall): Promise<GivenImages> => {
  const masks = files.filter(({ field }) => field === 'mask')
  const uploads = files.filter(({ field }) => field !== 'mask')
  if (masks.length > 1) throw badImage('mask', 'may be given once')
  const sources = [
    ...(body.images ?? []).map(({ image_url }, at) => byUrl(image_url, `images[${at}].image_url`)),
    ...uploads.map((file, at) => fileSource(file, uploads.length === 1 ? 'image' : `image[${at}]`)),
  ]
  if (sources.length === 0) throw badImage('image', 'is missing: send files of a form, or images in JSON')
  if (sources.length > maxEditImages) throw badImage('image', `is given more than ${maxEditImages} times`)
  const [file] = masks
  const url = body.mask?.image_url
  const mask = file !== undefined ? fileSource(file, 'mask') : url === undefined ? null : byUrl(url, 'mask.image_url')
  const reading = new ImageBytes(remote, signal)
  const images = []
  // sequential, so that the error names the first invalid image, and to bound memory use
  for (const source of sources) images.push(await reading.read(source, limits))
  return { images, mask: mask === null ? null : await reading.read(mask, limits) }
}
