/*
 * Images in messages of a page.
 *
 * const { images, add, take } = useAttachments()
 * send(take(text))
 */
import { createElement, type ImgHTMLAttributes, type ReactNode, useState } from 'react'
import { imagePart } from '../../client/src/images.ts'
import { type ImagePart, type InputImage, TroupeError, type TurnInput } from '../../client/src/index.ts'
import { useSession } from './hooks.ts'
import { urlOf } from './image-url.ts'
import { useImageUrls } from './image-urls.ts'

/** An image that is attached to the message which is being written. */
export interface AttachedImage extends Omit<ImagePart, 'type'> {
  readonly type: 'image'
  /** Name of its file; '' for one that was pasted. */
  readonly name: string
}

/** Images of the message that is being written. */
export interface Attachments {
  readonly images: readonly AttachedImage[]
  /** Why a file was not attached, by name; of the newest that were added. */
  readonly error: TroupeError | null
  /** Attaches files, such as those of an input, of a drop or of a paste. */
  readonly add: (files: Iterable<Blob> | ArrayLike<Blob>) => Promise<void>
  readonly remove: (image: AttachedImage) => void
  /** Returns what to send, a text with the images, which are attached no longer. */
  readonly take: (text: string) => TurnInput
}

/** Keeps the images that a person attaches to a message. */
export const useAttachments = (): Attachments => {
  const [images, attach] = useState<readonly AttachedImage[]>([])
  const [error, refuse] = useState<TroupeError | null>(null)
  const add: Attachments['add'] = async (files) => {
    refuse(null)
    for (const file of Array.from(files)) {
      const made = await imagePart(file).catch(asError)
      if (made instanceof TroupeError) refuse(made)
      else attach((before) => [...before, attached(made, file)])
    }
  }
  const take = (text: string): TurnInput => {
    attach([])
    refuse(null)
    if (!images.length) return text
    const parts = images.map(({ name: _, ...image }): InputImage => ({ ...image, type: 'input_image' }))
    return text ? [{ type: 'input_text', text }, ...parts] : parts
  }
  return { images, error, add, remove: (image) => attach((all) => all.filter((each) => each !== image)), take }
}

const asError = (cause: unknown): TroupeError =>
  cause instanceof TroupeError ? cause : new TroupeError(`${cause}`, { code: 'usage', cause })

const attached = (part: InputImage, file: Blob): AttachedImage => ({
  ...part,
  type: 'image',
  name: file instanceof File ? file.name : '',
})

/** An image of a message, or one that is attached, and attributes of its element. */
export interface MessageImageProps extends Omit<ImgHTMLAttributes<HTMLImageElement>, 'src' | 'part'> {
  readonly part: ImagePart
  readonly alt: string
}

/** Shows an image with the credential of its session; its `alt` while it is read. */
export const MessageImage = ({ part, ...rest }: MessageImageProps): ReactNode => {
  const src = urlOf(part, useImageUrls(useSession(), [part]))
  return createElement('img', { 'aria-busy': src === undefined, ...rest, src })
}
