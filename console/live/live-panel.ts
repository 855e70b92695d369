import { callApi } from '../api.ts'
import { ahead, time } from '../format.ts'
import { html, typed, useEffect, useRef, useState } from '../html.ts'
import { ActButton } from '../parts/act-button.ts'
import { Trouble } from '../parts/trouble.ts'
import { useRead } from '../parts/use-read.ts'
import { drawing, type LiveFrame, watchJob } from './live-frames.ts'
import { buttonOf, isOwnKey, leaves, PageInput, placeOf } from './page-input.ts'

/** Message of an error. */
const wordsFor = (error: unknown) => (error === null ? '' : error instanceof Error ? error.message : String(error))

/**
 * The page of a browser job that waits for a person: its picture, controlled with mouse and keyboard, and the buttons
 * that end the wait. Texts from the page and the job are shown as plain text only.
 */
export const LivePanel = ({ project, id, done }: Props) => {
  const [note, setNote] = useState('')
  const [trouble, setTrouble] = useState('')
  const [input] = useState(() => new PageInput(project, id, (error) => setTrouble(wordsFor(error))))
  const read = useRead(id, () => callApi(project, 'browser_jobs.get', { params: { jobId: id } }))
  const wait = read.data?.waiting ?? null
  const said = trouble || wordsFor(read.error)
  const go = async () => {
    await input.settled()
    await callApi(project, 'browser_jobs.continue', { params: { jobId: id }, body: note === '' ? {} : { note } })
    done()
  }
  const cancel = () => callApi(project, 'browser_jobs.cancel', { params: { jobId: id } }).then(done)
  return html`
    <section class="act stack" aria-label="Page of the job">
      <p>The job is waiting for you${wait !== null && html` until <time datetime=${wait.expires_at}>${time(wait.expires_at)}</time> (${ahead(wait.expires_at)})`}.</p>
      ${wait?.message && html`<blockquote class="pl-12 border-l-3 border-line"><bdi>${wait.message}</bdi></blockquote>`}
      <${Screen} project=${project} id=${id} input=${input} />
      <${Trouble} error=${said} />
      <${Typing} input=${input} />
      <form class="form" aria-label="End the wait" onSubmit=${(event: Event) => event.preventDefault()}>
        <label>Note, stored with the job<input value=${note} maxlength="500"
          onInput=${typed(setNote)} /></label>
        <div class="act-buttons">
          <${ActButton} label="Continue" main act=${go} />
          <${ActButton} label="Cancel job" sure="Cancel the job?" act=${cancel} />
        </div>
      </form>
    </section>
  `
}

/** A field whose text is sent to the page: for phones, and for long texts. */
const Typing = ({ input }: { input: PageInput }) => {
  const [text, setText] = useState('')
  const send = (event: Event) => {
    event.preventDefault()
    if (text !== '') input.type(text)
    setText('')
  }
  return html`<form class="grid grid-cols-[1fr_auto] items-end gap-8" id="live-typing" aria-label="Type into the page" onSubmit=${send}>
    <label>Text for the focused field of the page<input class="w-full" type="password" autocomplete="off" maxlength="10000" value=${text}
      onInput=${typed(setText)} /></label>
    <button type="submit" class="quiet">Type</button>
  </form>`
}

const Screen = ({ project, id, input }: { project: string; id: string; input: PageInput }) => {
  const canvas = useRef<HTMLCanvasElement | null>(null)
  const size = useRef({ width: 0, height: 0 })
  const [url, setUrl] = useState('')
  const [trouble, setTrouble] = useState('')
  useEffect(() => {
    const abort = new AbortController()
    const draw = drawing(() => canvas.current)
    const show = (frame: LiveFrame) => {
      size.current = { width: frame.width, height: frame.height }
      setUrl(frame.url)
      draw(frame.image)
    }
    void watchJob({ project, id, show, signal: abort.signal }).catch((error) => setTrouble(wordsFor(error)))
    // scrolling the job's page must not scroll this one, which only a non-passive listener can prevent
    const wheel = wheeled(input, size)
    canvas.current?.addEventListener('wheel', wheel, { passive: false })
    return () => abort.abort()
  }, [id])
  const on = pointing(input, size)
  return html`
    <p ><span class="muted">Address</span> <code class="wrap-anywhere">${url === '' ? 'not shown yet' : url}</code></p>
    <canvas ref=${canvas} class="block w-full max-w-full h-auto mt-4 border border-line rounded-6 touch-none cursor-default" tabindex="0" role="application" width="16" height="10"
      aria-label="Live view of the page. Keys are sent to it; press Shift and Escape to leave it." aria-describedby="live-hint"
      onPointerDown=${on.down} onPointerUp=${on.up} onPointerMove=${on.move} onContextMenu=${(event: Event) => event.preventDefault()}
      onKeyDown=${on.keyDown} onKeyUp=${on.keyUp} onPaste=${on.paste}></canvas>
    <p class="muted" id="live-hint">Click into the page to use it. Keys go to it then; <kbd>Shift</kbd> <kbd>Escape</kbd> leaves it. What you type is not stored.</p>
    <${Trouble} error=${trouble} />
  `
}

type Size = Readonly<{ current: { readonly width: number; readonly height: number } }>

const wheeled = (input: PageInput, size: Size) => (event: WheelEvent) => {
  event.preventDefault()
  if (!(event.currentTarget instanceof HTMLElement)) return
  const place = placeOf(event, event.currentTarget.getBoundingClientRect(), size.current)
  input.add({ type: 'wheel', ...place, deltaX: Math.round(event.deltaX), deltaY: Math.round(event.deltaY) })
}

/** Event listeners of the picture. */
const pointing = (input: PageInput, size: Size) => {
  const pointer = (type: 'mouseDown' | 'mouseUp' | 'mouseMove') => (event: PointerEvent) => {
    const { currentTarget } = event
    if (!(currentTarget instanceof HTMLElement)) return
    const place = placeOf(event, currentTarget.getBoundingClientRect(), size.current)
    if (type === 'mouseMove') return input.add({ type, ...place })
    if (type === 'mouseDown') {
      currentTarget.focus()
      currentTarget.setPointerCapture(event.pointerId)
    }
    const clicks = Math.min(3, Math.max(1, event.detail))
    input.add({ type, ...place, button: buttonOf(event.button), clicks })
  }
  return {
    down: pointer('mouseDown'),
    up: pointer('mouseUp'),
    move: pointer('mouseMove'),
    keyDown: (event: KeyboardEvent) => {
      event.stopPropagation()
      if (isOwnKey(event)) return
      event.preventDefault()
      if (!leaves(event)) return input.add({ type: 'keyDown', key: event.key.slice(0, 32) })
      input.add({ type: 'keyUp', key: 'Shift' })
      const next = document.querySelector('#live-typing input')
      if (next instanceof HTMLElement) next.focus()
    },
    keyUp: (event: KeyboardEvent) => {
      if (!isOwnKey(event)) input.add({ type: 'keyUp', key: event.key.slice(0, 32) })
    },
    paste: (event: ClipboardEvent) => {
      event.preventDefault()
      input.type(event.clipboardData?.getData('text/plain') ?? '')
    },
  }
}
