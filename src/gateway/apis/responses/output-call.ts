import { argumentsOf, type WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import { customInput, type ToolAlias } from './caller-tools.ts'
import type { ResponseItem } from './input-items.ts'
import { type OutputPart, statusOf } from './output-parts.ts'
import type { Emit } from './response-output.ts'

/** A tool call of the model. */
export interface NamedCall {
  readonly callId: string
  readonly name: string
  /** The caller's view of the tool; undefined when it is the function itself. */
  readonly alias: ToolAlias | undefined
}

/** Output item for the call of a tool that the caller runs: a function, or a custom tool represented by a function. */
export class OutputCall implements OutputPart {
  readonly #emit: Emit
  readonly #place: { readonly item_id: string; readonly output_index: number }
  readonly #call: NamedCall
  #arguments = ''
  #status = 'in_progress'

  constructor(emit: Emit, index: number, call: NamedCall) {
    this.#emit = emit
    this.#place = { item_id: newId(call.alias?.custom === true ? 'ctc' : 'fc'), output_index: index }
    this.#call = call
  }

  get item(): ResponseItem {
    const { callId, alias } = this.#call
    const space = alias?.namespace ?? null
    return {
      id: this.#place.item_id,
      type: this.#isCustom ? 'custom_tool_call' : 'function_call',
      status: this.#status,
      call_id: callId,
      name: this.#name,
      ...(space !== null && { namespace: space }),
      ...(this.#isCustom ? { input: customInput(this.#arguments) } : { arguments: this.#arguments }),
    }
  }

  begin(): void {
    this.#emit('response.output_item.added', { output_index: this.#place.output_index, item: this.item })
  }

  add(delta: string): void {
    if (delta === '') return
    this.#arguments += delta
    // the input of a custom tool arrives as JSON, which can be parsed only when it is complete
    if (!this.#isCustom) this.#emit('response.function_call_arguments.delta', { ...this.#place, delta })
  }

  finish(whole: boolean): void {
    if (whole && !this.#isCustom && this.#arguments.trim() === '') this.add(argumentsOf(''))
    for (const [type, fields] of this.#lastEvents()) this.#emit(type, { ...this.#place, ...fields })
    this.#status = statusOf(whole)
    this.#emit('response.output_item.done', { output_index: this.#place.output_index, item: this.item })
  }

  #lastEvents(): readonly (readonly [type: string, fields: WireObject])[] {
    const written = this.#arguments
    if (!this.#isCustom) return [['response.function_call_arguments.done', { name: this.#name, arguments: written }]]
    const input = customInput(written)
    return [
      ['response.custom_tool_call_input.delta', { delta: input }],
      ['response.custom_tool_call_input.done', { input }],
    ]
  }

  get #isCustom(): boolean {
    return this.#call.alias?.custom === true
  }

  get #name(): string {
    return this.#call.alias?.name ?? this.#call.name
  }
}
