import { Approval } from '../approval-form.ts'
import { html, typed, useEffect, useRef, useState } from '../html.ts'
import { Empty } from '../parts/empty.ts'
import { routeHash } from '../route.ts'
import { Lines } from '../talk-panel.ts'
import { AttachButton, Attached, sentParts, useAttachments } from './attachments.ts'
import { isSimulated, MagicWords } from './magic-words.ts'
import { useTalk } from './use-talk.ts'

type Talking = ReturnType<typeof useTalk>

/** A tool run by the caller, for trying an approval. */
const exampleTool = {
  type: 'function',
  needsApproval: true,
  function: {
    name: 'refund',
    description: 'Pays an order back.',
    parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  },
}

/** The conversation, its pending approval, and the form for messages. */
export const Talk = ({ place, models, log }: Props & { models: readonly string[]; log: readonly ActorEvent[] }) => {
  const [text, setText] = useState('')
  const talk = useTalk(place, log, (input) => {
    const parts = typeof input === 'string' ? [{ type: 'input_text', text: input }] : input
    setText((now) => [...parts.flatMap((part) => part.text ?? []), now].join('\n').trim())
    attached.giveBack(parts.filter(({ type }) => type === 'input_image'))
  })
  // an agent has its own tools
  const [offers, setOffers] = useState(!place.query.agent)
  const { lines, busy, waiting, follow } = talk
  const simulated = isSimulated(place.query.model ?? '', models)
  // a message is one frame of a WebSocket, which has at most 1 MiB
  const attached = useAttachments({ onlyImages: true, ...(place.query.by === 'ws' && { maxLength: 1_000_000 }) })
  const say = (said: string) => {
    const parts = sentParts(attached.parts).map(({ filename, ...part }) => part)
    attached.clear()
    const texts = said.trim() === '' ? [] : [{ type: 'input_text', text: said }]
    return talk.send({ input: parts.length === 0 ? said : [...texts, ...parts], tools: offers ? [exampleTool] : [] })
  }
  return html`
    <section class="panel talk" aria-label="Conversation" ...${attached.taking}>
      <${Messages} project=${place.project} session=${place.query.session} lines=${lines} hint=${simulated} />
      ${waiting !== null && html`<${Approval} key=${waiting.action} project=${place.project} actor=${{ id: waiting.action }} done=${follow} />`}
      ${simulated && html`<${MagicWords} disabled=${busy} press=${say} />`}
      <${SayForm} place=${place} talk=${talk} attached=${attached} text=${text} setText=${setText} say=${say} offers=${offers} offer=${setOffers} />
    </section>
  `
}

/** What was said, the newest in view. */
export const Messages = (props: Props & { session?: string; lines: Talking['lines']; hint: boolean }) => {
  const { project, session, lines, hint } = props
  const list = useRef<HTMLElement | null>(null)
  useEffect(() => list.current?.scrollTo(0, list.current.scrollHeight), [lines])
  return html`
    <div class="messages" role="log" aria-label="Messages" tabindex="0" ref=${list}>
      ${lines.length === 0 && html`<${Empty} drawn="playground" title="Nothing was said yet."><p>Write something below${hint ? ', or press one of the commands of the simulated model' : ''}.</p><//>`}
      <${Lines} project=${project} session=${session} lines=${lines} />
    </div>
  `
}

const SayForm = (
  props: Props & {
    talk: Talking
    attached: ReturnType<typeof useAttachments>
    setText: (text: string) => void
    say: (text: string) => Promise<void>
    offers: boolean
    offer: (offers: boolean) => void
  },
) => {
  const { place, talk, attached, text, setText, say, offers, offer } = props
  const { busy, waiting, stop } = talk
  const isEmpty = text.trim() === '' && attached.parts.length === 0
  const field = useRef<HTMLTextAreaElement | null>(null)
  // an answer is shown before its turn has ended
  const [queued, setQueued] = useState(false)
  useEffect(() => field.current?.focus(), [])
  const sendNow = () => {
    setQueued(false)
    setText('')
    void say(text)
  }
  useEffect(() => {
    if (queued && !busy && waiting === null && !isEmpty) sendNow()
  }, [queued, busy])
  const send = (event: Event) => {
    event.preventDefault()
    if (isEmpty) return
    if (busy) setQueued(true)
    else sendNow()
  }
  return html`
    <form class="form px-(--inset) py-10 border-t border-line" aria-label="Say" onSubmit=${send}>
      <label>Message<textarea ref=${field} rows="2" value=${text} onInput=${typed(setText)} onKeyDown=${(event: KeyboardEvent) => event.key === 'Enter' && !event.shiftKey && send(event)}></textarea></label>
      <${Attached} project=${place.project} attached=${attached} />
      <label class="tick"><input type="checkbox" checked=${offers} onChange=${() => offer(!offers)} /> Offer the tool <code>refund</code>, which requires approval</label>
      <div class="act-buttons">
        <button type="submit" aria-disabled=${busy}>Send</button>
        ${busy && html`<button type="button" class="quiet" onClick=${stop}>Stop</button>`}
        <${AttachButton} attached=${attached} />
        <span class="muted" role="status">${busy ? (queued ? 'The message is sent when the turn ends.' : 'The turn is in progress.') : waiting !== null && html`<a href=${routeHash({ view: 'actor', project: place.project, id: waiting.action })}>${waiting.tool}</a> is waiting for your approval.`}</span>
      </div>
    </form>
  `
}
