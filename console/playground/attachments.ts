import { html, useState } from '../html.ts'
import { dataUrlOf, Pictures } from '../parts/pictures.ts'
import { Trouble } from '../parts/trouble.ts'
import type { Item } from './request-model.ts'

const kinds = ['image/jpeg', 'image/png', 'image/webp', 'image/gif']
const maxMb = 20

/** The files of the next message, as parts of it. @param limits `maxLength`: of all together, encoded */
export const useAttachments = (limits: { onlyImages: boolean; maxLength?: number }) => {
  const { onlyImages, maxLength = Number.POSITIVE_INFINITY } = limits
  const [parts, setParts] = useState<readonly Item[]>([])
  const [trouble, setTrouble] = useState('')
  const add = async (files: Iterable<File>) => {
    const chosen = [...files]
    const refused = chosen.filter(({ type, size }) => size > maxMb * 2 ** 20 || (onlyImages && !kinds.includes(type)))
    const fresh = await Promise.all(chosen.filter((file) => !refused.includes(file)).map(partOf))
    const length = [...parts, ...fresh].reduce((sum, part) => sum + String(part.image_url ?? '').length, 0)
    if (length > maxLength)
      return setTrouble('A message over a WebSocket has at most 1 MB. Choose SSE above for larger images.')
    setTrouble(
      refused.length === 0 ? '' : `${refused.map(({ name }) => name).join(', ')}: not added. ${limitsOf(onlyImages)}`,
    )
    setParts((before) => [...before, ...fresh])
  }
  const clear = () => setParts([])
  /** Attaches images of a message that was not taken. */
  const giveBack = (images: readonly Item[]) =>
    setParts((before) => [...images.map((image) => ({ ...image, key: ++files })), ...before])
  const remove = (part: unknown) => setParts(parts.filter((each) => each !== part))
  const taking = {
    onPaste: (event: ClipboardEvent) => takeFrom(event, event.clipboardData),
    onDrop: (event: DragEvent) => takeFrom(event, event.dataTransfer),
  }
  const takeFrom = (event: Event, data: DataTransfer | null) => {
    if (data === null || data.files.length === 0) return
    event.preventDefault()
    // the page opens saved actors that are dropped anywhere else
    event.stopPropagation()
    void add(data.files)
  }
  return { parts, trouble, add, remove, clear, giveBack, onlyImages, taking }
}

const limitsOf = (onlyImages: boolean) => `${onlyImages ? 'JPEG, PNG, WEBP or GIF' : 'Files'} up to ${maxMb} MB each.`

/** The chosen files, each with a preview. */
export const Attached = (props: Props & { attached: ReturnType<typeof useAttachments> }) => {
  const { project, attached } = props
  const { parts, trouble, remove } = attached
  const images = parts.filter(({ type }) => type === 'input_image')
  const files = parts.filter((part) => !images.includes(part))
  return html`
    <${Trouble} error=${trouble} />
    <${Pictures} images=${images} project=${project} remove=${remove} />
    ${files.length > 0 && html`<ul class="links">${files.map((file) => html`<li key=${file.key}>${file.filename} <button type="button" class="quiet" aria-label=${`Remove ${file.filename}`} onClick=${() => remove(file)}>×</button></li>`)}</ul>`}
  `
}

/** The button that chooses files. */
export const AttachButton = ({ attached: { add, onlyImages } }: { attached: ReturnType<typeof useAttachments> }) => {
  const choose = async ({ currentTarget: input }: Event) => {
    if (!(input instanceof HTMLInputElement)) return
    await add(input.files ?? [])
    input.value = ''
  }
  return html`<label class="button quiet focus-within:rounded-7 focus-within:outline-2 focus-within:outline-accent" title=${`Or paste or drop them here. ${limitsOf(onlyImages)}`}>${onlyImages ? 'Attach images' : 'Attach'}<input class="absolute size-1 opacity-0" type="file" multiple accept=${onlyImages ? kinds.join() : undefined} onChange=${choose} /></label>`
}

let files = 0

/** A file as a part of a message. */
const partOf = async (file: File): Promise<Item> => {
  const data = await dataUrlOf(file)
  const named = { key: ++files, filename: file.name }
  return file.type.startsWith('image/')
    ? { type: 'input_image', image_url: data, ...named }
    : { type: 'input_file', file_data: data, ...named }
}

/** Parts without what only the page needs. */
export const sentParts = (parts: readonly Item[]) => parts.map(({ key, ...part }) => part)
