import type { ImagePart } from '../../client/src/index.ts'

/** Addresses of images by their ids, as far as they are read. */
export type ImageUrls = ReadonlyMap<string, string>

/** The address of an image; undefined while it is read. */
export const urlOf = ({ image_id, image_url }: ImagePart, urls: ImageUrls): string | undefined =>
  image_url ?? urls.get(`${image_id}`)
