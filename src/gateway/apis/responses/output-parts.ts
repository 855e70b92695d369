import { objectOf, type WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import { citationsIn } from './citations.ts'
import type { ResponseItem } from './input-items.ts'
import type { Emit, Source } from './response-output.ts'

/** One item of the output in its current state. */
export interface OutputPart {
  readonly item: ResponseItem
}

/** Returns the status of an item that has ended. @param whole false when it was cut off. */
export const statusOf = (whole: boolean) => (whole ? 'completed' : 'incomplete')

/**
 * Output item for a message of the model. Text and refusals are separate parts; a new part begins when the kind
 * changes.
 */
export class OutputMessage implements OutputPart {
  readonly #emit: Emit
  readonly #place: { readonly item_id: string; readonly output_index: number }
  readonly #sources: readonly Source[]
  /** Length of the answer's text before this message, in UTF-16 units: places of citations are those in the answer. */
  readonly #from: number
  readonly #content: WireObject[] = []
  #annotations: WireObject[] = []
  #kind: 'output_text' | 'refusal' | null = null
  #text = ''
  #status = 'in_progress'

  /** @param sources what the text may cite. @param from length of the text of the model's answer before this message. */
  constructor(
    emit: Emit,
    index: number,
    { sources, from }: { readonly sources: readonly Source[]; readonly from: number },
  ) {
    this.#emit = emit
    this.#from = from
    this.#place = { item_id: newId('msg'), output_index: index }
    this.#sources = sources
  }

  get item(): ResponseItem {
    const open = this.#kind === null ? [] : [this.#part()]
    const content = [...this.#content, ...open]
    return { id: this.#place.item_id, type: 'message', status: this.#status, role: 'assistant', content }
  }

  begin(): void {
    this.#emit('response.output_item.added', { output_index: this.#place.output_index, item: this.item })
  }

  text(delta: string): void {
    this.#turnTo('output_text')
    this.#text += delta
    this.#emit('response.output_text.delta', { ...this.#at(), delta, logprobs: [] })
  }

  /** Adds citations of the provider, in the form of OpenAI's chat completions. */
  annotate(annotations: readonly WireObject[], from = this.#from): void {
    for (const { type, url_citation, file_citation } of annotations) {
      if (type !== 'url_citation' && type !== 'file_citation') continue
      const fields = objectOf(type === 'url_citation' ? url_citation : file_citation)
      const placed = placesAfter(from, fields)
      // a file is cited at a place, which OpenAI calls its index
      const at = type === 'file_citation' && fields.index === undefined ? { index: placed.end_index } : {}
      const annotation = { type, ...fields, ...placed, ...at }
      const annotation_index = this.#annotations.length
      this.#annotations.push(annotation)
      this.#emit('response.output_text.annotation.added', { ...this.#at(), annotation_index, annotation })
    }
  }

  refusal(delta: string): void {
    this.#turnTo('refusal')
    this.#text += delta
    this.#emit('response.refusal.delta', { ...this.#at(), delta })
  }

  finish(whole: boolean): void {
    this.#endPart()
    this.#status = statusOf(whole)
    this.#emit('response.output_item.done', { output_index: this.#place.output_index, item: this.item })
  }

  #at() {
    return { ...this.#place, content_index: this.#content.length }
  }

  #turnTo(kind: 'output_text' | 'refusal'): void {
    if (this.#kind === kind) return
    this.#endPart()
    this.#kind = kind
    this.#emit('response.content_part.added', { ...this.#at(), part: this.#part() })
  }

  #endPart(): void {
    if (this.#kind === null) return
    const at = this.#at()
    if (this.#kind === 'output_text') this.#endText(at)
    else this.#emit('response.refusal.done', { ...at, refusal: this.#text })
    const part = this.#part()
    this.#emit('response.content_part.done', { ...at, part })
    this.#content.push(part)
    this.#kind = null
    this.#text = ''
    this.#annotations = []
  }

  #endText(at: WireObject): void {
    this.annotate(citationsIn(this.#text, this.#sources), 0)
    this.#emit('response.output_text.done', { ...at, text: this.#text, logprobs: [] })
  }

  #part(): WireObject {
    return this.#kind === 'refusal'
      ? { type: 'refusal', refusal: this.#text }
      : { type: 'output_text', annotations: [...this.#annotations], logprobs: [], text: this.#text }
  }
}

/** What a guardrail held back may be of the message before: it stands at the beginning then. */
const placesAfter = (from: number, { start_index, end_index }: WireObject): WireObject => ({
  ...(typeof start_index === 'number' && { start_index: Math.max(0, start_index - from) }),
  ...(typeof end_index === 'number' && { end_index: Math.max(0, end_index - from) }),
})

/** Output item for the reasoning that a model exposes. */
export class OutputReasoning implements OutputPart {
  readonly #emit: Emit
  readonly #place: { readonly item_id: string; readonly output_index: number; readonly content_index: number }
  #text = ''
  #status = 'in_progress'

  constructor(emit: Emit, index: number) {
    this.#emit = emit
    this.#place = { item_id: newId('rs'), output_index: index, content_index: 0 }
  }

  get item(): ResponseItem {
    const content = this.#text === '' ? [] : [this.#part()]
    return { id: this.#place.item_id, type: 'reasoning', status: this.#status, summary: [], content }
  }

  begin(): void {
    this.#emit('response.output_item.added', { output_index: this.#place.output_index, item: this.item })
    this.#emit('response.content_part.added', { ...this.#place, part: this.#part() })
  }

  add(delta: string): void {
    this.#text += delta
    this.#emit('response.reasoning_text.delta', { ...this.#place, delta })
  }

  finish(whole: boolean): void {
    this.#emit('response.reasoning_text.done', { ...this.#place, text: this.#text })
    this.#emit('response.content_part.done', { ...this.#place, part: this.#part() })
    this.#status = statusOf(whole)
    this.#emit('response.output_item.done', { output_index: this.#place.output_index, item: this.item })
  }

  #part(): WireObject {
    return { type: 'reasoning_text', text: this.#text }
  }
}
