import { bytesOf } from '../api.ts'
import { html, useEffect, useRef, useState } from '../html.ts'
import type { Image } from './turn-input.ts'
import { useRead } from './use-read.ts'

/** Height in px of thumbnails, twice that of their boxes for dense screens. */
const thumbnailPx = 144

/**
 * Images of a message as thumbnails that open whole. They are drawn on canvases: the content policy of the page admits
 * only images that have an address on this server, and those of sessions are read with headers.
 *
 * @param props `session`: whose images they are, '' where they cannot be read
 */
export const Pictures = ({
  images,
  project,
  session = '',
  remove,
}: Props & { images: readonly Image[]; session?: string; remove?: (image: Image) => void }) =>
  images.length > 0 &&
  html`<ul class="pictures flex flex-wrap gap-8 py-4" aria-label="Images">${images.map((image, at) => {
    const name = image.filename ?? `image ${at + 1}`
    return html`<li class="flex items-start gap-2" key=${image.key ?? at}><${Thumbnail} image=${image} name=${name} read=${() => blobOf(image, project, session)} />${remove && html`<button type="button" class="quiet" aria-label=${`Remove ${name}`} title=${`Remove ${name}`} onClick=${() => remove(image)}>×</button>`}</li>`
  })}</ul>`

const Thumbnail = (props: Props & { image: Image; read: () => Promise<Blob> }) => {
  const { image, name, read } = props
  const { image_id, image_url = '' } = image
  const isElsewhere = /^https?:/.test(image_url)
  const { data, error } = useRead(isElsewhere ? '' : (image_id ?? image_url), read)
  const [isOpen, setOpen] = useState(false)
  const [isBroken, setBroken] = useState(false)
  if (isElsewhere) return html`<a href=${image_url} rel="noreferrer" target="_blank">Image at ${hostOf(image_url)}</a>`
  if (isBroken || error !== null) return html`<span class="muted">${name} cannot be shown</span>`
  return html`<button type="button" class="h-74 min-w-40 p-0 overflow-hidden border-line bg-page cursor-zoom-in" aria-label=${`Open ${name}`} onClick=${() => setOpen(true)}><${Picture} blob=${data} label=${name} class="block h-72 max-w-220 object-cover" height=${thumbnailPx} failed=${() => setBroken(true)} /></button>${isOpen && html`<${Whole} blob=${data} label=${name} close=${() => setOpen(false)} />`}`
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : 'another server')

const Whole = ({ blob, label, close }: { blob: Blob | null; label: string; close: () => void }) =>
  html`<dialog class="find open:grid justify-items-end gap-8 w-fit max-w-[94vw] m-auto p-10" aria-label=${label} ref=${(dialog: HTMLDialogElement | null) => dialog?.open || dialog?.showModal()} onClose=${close} onClick=${close}><${Picture} blob=${blob} label=${label} class="max-w-full max-h-[82vh] object-contain" /><button type="button" class="quiet">Close</button></dialog>`

/** Draws an image. @param props `height` in px, by default its own */
export const Picture = (props: Props & { blob: Blob | null; height?: number; class?: string; failed?: () => void }) => {
  const { blob, label, height, class: name, failed } = props
  const canvas = useRef<HTMLCanvasElement | null>(null)
  useEffect(() => {
    if (blob === null) return
    createImageBitmap(blob, height === undefined ? {} : { resizeHeight: height, resizeQuality: 'high' }).then(
      (bitmap) => draw(canvas.current, bitmap),
      failed,
    )
  }, [blob])
  return html`<canvas ref=${canvas} class=${name} role="img" aria-label=${label} width="0" height="0"></canvas>`
}

/** Draws a decoded image on a canvas of its size. */
export const draw = (canvas: HTMLCanvasElement | null, bitmap: ImageBitmap) => {
  if (canvas === null) return
  if (canvas.width !== bitmap.width) canvas.width = bitmap.width
  if (canvas.height !== bitmap.height) canvas.height = bitmap.height
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0)
  bitmap.close()
}

const blobOf = async ({ image_id, image_url }: Image, project: string, session: string): Promise<Blob> => {
  if (image_id === undefined) return blobFrom(image_url?.split(',')[1] ?? '')
  if (session === '') throw new Error('only its server has it')
  return bytesOf(project, 'sessions.image', { session_id: session, image_id })
}

export const dataUrlOf = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(reader.error))
    reader.readAsDataURL(blob)
  })

/** Images of a session, as a turn of another one has them. */
export const sentAgain = (images: readonly Image[], project: string, session: string) =>
  Promise.all(
    images.map(async ({ image_id, image_url, detail }) => ({
      ...{ type: 'input_image', ...(detail && { detail }) },
      image_url: image_id ? await dataUrlOf(await blobOf({ image_id }, project, session)) : image_url,
    })),
  )

export const blobFrom = (base64: string) => new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))])
