import { callApi } from '../api.ts'
import { html, typed, useEffect, useState } from '../html.ts'
import { Trouble } from '../parts/trouble.ts'
import { useRead } from '../parts/use-read.ts'
import { Suggestions } from '../resources/schema-form.ts'
import { AttachButton, Attached, sentParts, useAttachments } from './attachments.ts'
import { Lane } from './lane.ts'
import { isSimulated, MagicWords } from './magic-words.ts'
import { openedRequest } from './request-model.ts'
import { openCalls, useLane } from './use-lane.ts'

/** Requests to one or two models, prompts or versions, side by side: one message goes to all of them. */
export const Bench = (
  props: Props & { models: readonly string[]; agents: readonly { id: string; name: string }[] },
) => {
  const { place, models, agents } = props
  const { project, query } = place
  const lanes = [useLane(project), useLane(project)]
  const [two, setTwo] = useState(query.b !== undefined)
  const [text, setText] = useState('')
  const attached = useAttachments({ onlyImages: false })
  const files = sentParts(attached.parts)
  const [trouble, setTrouble] = useState('')
  const sources = useRead(project, async () => {
    const few = { query: { limit: 100 } }
    const [prompts, bases] = await Promise.all([
      callApi(project, 'prompts.list', few),
      callApi(project, 'knowledge_bases.list', few),
    ])
    return { agents, prompts: prompts.data, bases: bases.data }
  })
  useEffect(() => {
    if (query.request === undefined) return
    callApi(project, 'request_log.get', { params: { request_id: query.request } }).then(
      ({ operation, request_body }) => {
        const opened = openedRequest(operation, request_body)
        if (opened === null) return setTrouble('The log did not keep the whole body of this request.')
        for (const lane of lanes) lane.open(opened)
        setText(opened.text)
      },
      () => setTrouble('The request log has no entry for this request.'),
    )
  }, [])
  const shown = two ? lanes : lanes.slice(0, 1)
  const stop = () => {
    for (const { abort } of shown) abort?.abort()
  }
  const busy = shown.some(({ abort }) => abort !== null)
  const hasCalls = shown.some(({ items }) => openCalls(items).length > 0)
  const send = async (message: string) => {
    if (busy || message.trim() === '') return
    setText('')
    attached.clear()
    await Promise.all(shown.map((lane) => lane.send(message, files)))
  }
  const simulated = shown.some(({ settings }) => isSimulated(String(settings.model ?? models[0] ?? ''), models))
  return html`
    <${Suggestions} id="known-models" list="models.list" />
    <div class=${`grid gap-16 mx-(--gutter) mb-16 ${two ? 'grid-cols-[repeat(auto-fit,minmax(min(380px,100%),1fr))]' : ''}`}>${shown.map((lane, at) => html`<${Lane} key=${at} name=${two ? ['A', 'B'][at] : 'Request'} project=${project} lane=${lane} sources=${sources.data} model=${models[0] ?? ''} from=${(at === 0 ? query.a : query.b) ?? ''} draft=${[text || 'Hello', files]} />`)}</div>
    <form class="panel form px-(--inset) py-10" aria-label="Send" ...${attached.taking} onSubmit=${(event: Event) => {
      event.preventDefault()
      void send(text)
    }}>
      <${Trouble} error=${trouble} />
      ${simulated && html`<${MagicWords} disabled=${busy} press=${send} />`}
      <label>${hasCalls ? 'Output of the function that was called' : 'Message'}<textarea rows="3" value=${text} onInput=${typed(setText)} onKeyDown=${(event: KeyboardEvent) => event.key === 'Enter' && !event.shiftKey && ((event.preventDefault(), void send(text)))}></textarea></label>
      <${Attached} project=${project} attached=${attached} />
      <div class="act-buttons">
        <button type="submit" aria-disabled=${busy}>${two ? 'Send to both' : 'Send'}</button>
        ${busy && html`<button type="button" class="quiet" onClick=${stop}>Stop</button>`}
        <${AttachButton} attached=${attached} />
        <label class="tick"><input type="checkbox" checked=${two} onChange=${() => setTwo(!two)} /> Compare two</label>
      </div>
    </form>
  `
}
