import { type StreamedCall, StreamedCalls } from '#gateway/call/streaming/streamed-calls.ts'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import type { ToolAliases } from './caller-tools.ts'
import { documentsCited } from './citations.ts'
import type { ResponseItem } from './input-items.ts'
import { OutputCall } from './output-call.ts'
import { OutputMessage, type OutputPart, OutputReasoning } from './output-parts.ts'

/** Receives the events of the output in order: the type of each event and its fields. */
export type Emit = (type: string, fields: WireObject) => void

/** A source that the answer may cite as `[n]`, n from 1. */
export type Source = Page | FoundFile

/** A web page. */
export interface Page {
  readonly url: string
  readonly title: string
}

/** A part of a document, as in the results of file searches. */
export interface FoundFile {
  readonly file_id: string
  readonly filename: string
  readonly score: number
  readonly text: string
  readonly attributes: WireObject
  /** Position of the part in the document. */
  readonly place: WireObject
}

/** A search that the model requested. `arguments` is JSON text, exactly as the model generated it. */
export interface SearchCall {
  readonly callId: string
  readonly name: string
  readonly arguments: string
}

/** Options for reading the model's calls. */
export interface OutputOptions {
  /** Names of functions whose calls this server runs as searches. */
  readonly searches: ReadonlySet<string>
  readonly aliases: ToolAliases
  /** Optional data that the request includes in the output, such as `file_search_call.results`. */
  readonly include: readonly string[]
}

/**
 * Builds the output of one response: takes deltas of chat completions, and produces items and their events.
 *
 * A message or a reasoning item ends when another item begins; calls end with the model's answer.
 */
export class ResponseOutput {
  readonly #emit: Emit
  readonly #searches: ReadonlySet<string>
  readonly #aliases: ToolAliases
  readonly #showsResults: boolean
  readonly #parts: OutputPart[] = []
  readonly #sources: Source[] = []
  #open: OutputMessage | OutputReasoning | null = null
  #calls = new StreamedCalls()
  readonly #callOutputs = new Map<StreamedCall, CallOutput>()
  #searchCalls: SearchRequest[] = []
  /** Length of the text of the model's answer so far, in UTF-16 units. */
  #length = 0
  readonly #foreign = new Map<string, (ended: WireObject, failed: boolean) => void>()

  constructor(emit: Emit, { searches, aliases, include }: OutputOptions) {
    this.#emit = emit
    this.#showsResults = include.includes('file_search_call.results')
    this.#aliases = aliases
    this.#searches = searches
  }

  /** The items so far, in their current state. */
  get items(): readonly ResponseItem[] {
    return this.#parts.map((part) => part.item)
  }

  /** Adds one delta of a chunk, or the message of a non-streamed completion. */
  delta(delta: WireObject): void {
    const reasoning = textOf(delta.reasoning_content) || textOf(delta.reasoning)
    if (reasoning !== '') this.#reasoning().add(reasoning)
    for (const search of arrayOf(delta.web_searches)) this.#foreignSearch(objectOf(search))
    for (const item of arrayOf(delta.hosted_items)) this.#hosted(objectOf(item))
    const text = textOf(delta.content)
    if (text !== '') this.#message().text(text)
    this.#length += text.length
    if (this.#open instanceof OutputMessage)
      this.#open.annotate([...arrayOf(delta.annotations).map(objectOf), ...documentsCited(delta)])
    const refusal = textOf(delta.refusal)
    if (refusal !== '') this.#message().refusal(refusal)
    for (const [call, more] of this.#calls.add(delta.tool_calls)) this.#call(call, more)
  }

  /** Ends the model's answer. @param whole false when it was cut off: open items become incomplete. */
  finish(whole: boolean): void {
    this.#close(whole)
    for (const output of this.#callOutputs.values()) output.finish(whole)
    this.#callOutputs.clear()
    this.#calls = new StreamedCalls()
    this.#length = 0
  }

  /** Whether there are calls for the caller to run. */
  get hasCalls(): boolean {
    return this.#parts.some((part) => part instanceof OutputCall)
  }

  /** Returns the searches that the model requested, and clears them. */
  takeSearches(): readonly SearchCall[] {
    const calls = this.#searchCalls
    this.#searchCalls = []
    return calls
  }

  /** Begins the item of a web search. @returns a function that ends it; it takes null for a failure. */
  search(query: string): (pages: readonly Page[] | null) => void {
    const over = this.#beginSearch(webSearch, { action: { type: 'search', query } })
    return (pages) => {
      this.#sources.push(...(pages ?? []))
      const sources = (pages ?? []).map(({ url }) => ({ type: 'url', url }))
      over({ action: { type: 'search', query, sources } }, pages === null)
    }
  }

  /** Begins the item of a document search. @returns a function that ends it; it takes null for a failure. */
  fileSearch(query: string): (files: readonly FoundFile[] | null) => void {
    const over = this.#beginSearch(fileSearch, { queries: [query], results: null })
    return (files) => {
      this.#sources.push(...(files ?? []))
      const results =
        this.#showsResults && files !== null ? files.map(({ place, ...file }) => ({ ...file, ...place })) : null
      over({ queries: [query], results }, files === null)
    }
  }

  /** Begins an item for an action of a remote server: `written` shows the arguments of a call, `done` ends the item. */
  remote(type: string, idPrefix: string, begun: WireObject): RemoteItem {
    this.#close(true)
    const output_index = this.#parts.length
    const id = newId(idPrefix)
    const place = { item_id: id, output_index }
    const isCall = type === 'mcp_call'
    const part: { item: ResponseItem } = {
      item: { id, type, ...begun, ...(isCall && { status: 'in_progress' }) },
    }
    const isCalled = type !== 'mcp_approval_request'
    this.#parts.push(part)
    this.#emit('response.output_item.added', { output_index, item: part.item })
    if (isCalled) this.#emit(`response.${type}.in_progress`, place)
    return {
      written: (text) => {
        this.#emit(`response.${type}_arguments.delta`, { ...place, delta: text })
        this.#emit(`response.${type}_arguments.done`, { ...place, arguments: text })
      },
      done: (ended, failed = false) => {
        part.item = { ...part.item, ...ended, ...(isCall && { status: failed ? 'failed' : 'completed' }) }
        if (isCalled) this.#emit(`response.${type}.${failed ? 'failed' : 'completed'}`, place)
        this.#emit('response.output_item.done', { output_index, item: part.item })
      },
    }
  }

  #beginSearch({ type, idPrefix }: SearchKind, begun: WireObject): (ended: WireObject, failed: boolean) => void {
    this.#close(true)
    const output_index = this.#parts.length
    const id = newId(idPrefix)
    const place = { item_id: id, output_index }
    const part: { item: ResponseItem } = { item: { id, type, status: 'in_progress', ...begun } }
    this.#parts.push(part)
    this.#emit('response.output_item.added', { output_index, item: part.item })
    this.#emit(`response.${type}.in_progress`, place)
    this.#emit(`response.${type}.searching`, place)
    return (ended, failed) => {
      part.item = { id, type, status: failed ? 'failed' : 'completed', ...ended }
      if (!failed) this.#emit(`response.${type}.completed`, place)
      this.#emit('response.output_item.done', { output_index, item: part.item })
    }
  }

  /** Shows a search run by the provider; called when it begins and when it has ended. */
  #foreignSearch(item: WireObject): void {
    const id = textOf(item.id)
    const action = objectOf(item.action)
    const over = this.#foreign.get(id) ?? this.#beginSearch(webSearch, { action: { type: 'search', ...action } })
    this.#foreign.set(id, over)
    if (item.status === 'completed' || item.status === 'failed')
      over({ action: { type: 'search', ...action } }, item.status === 'failed')
  }

  /** Adds the complete item of another tool run by the provider. */
  #hosted(fields: WireObject): void {
    this.#close(true)
    const output_index = this.#parts.length
    const item = { ...fields, id: textOf(fields.id) || newId('item'), type: textOf(fields.type) }
    this.#parts.push({ item })
    this.#emit('response.output_item.added', { output_index, item })
    this.#emit('response.output_item.done', { output_index, item })
  }

  /** Sources found so far. */
  get sources(): readonly Source[] {
    return this.#sources
  }

  #close(whole: boolean): void {
    this.#open?.finish(whole)
    this.#open = null
  }

  #message(): OutputMessage {
    if (this.#open instanceof OutputMessage) return this.#open
    this.#close(true)
    const about = { sources: this.#sources, from: this.#length }
    const message = new OutputMessage(this.#emit, this.#parts.length, about)
    return this.#begin(message)
  }

  #reasoning(): OutputReasoning {
    if (this.#open instanceof OutputReasoning) return this.#open
    this.#close(true)
    return this.#begin(new OutputReasoning(this.#emit, this.#parts.length))
  }

  #begin<P extends OutputMessage | OutputReasoning>(part: P): P {
    this.#parts.push(part)
    this.#open = part
    part.begin()
    return part
  }

  /** @param more arguments that were added to a call; its item begins with all of them once its name is known. */
  #call(call: StreamedCall, more: string): void {
    if (call.name === '') return
    const known = this.#callOutputs.get(call)
    const output = known ?? this.#newCall(call.id || newId('call'), call.name)
    this.#callOutputs.set(call, output)
    output.add(known === undefined ? call.arguments : more)
  }

  #newCall(callId: string, name: string): CallOutput {
    if (this.#searches.has(name)) {
      const search = new SearchRequest(callId, name)
      this.#searchCalls.push(search)
      return search
    }
    this.#close(true)
    const call = new OutputCall(this.#emit, this.#parts.length, { callId, name, alias: this.#aliases.get(name) })
    this.#parts.push(call)
    call.begin()
    return call
  }
}

/** An open item of a remote server. */
export interface RemoteItem {
  readonly written: (text: string) => void
  readonly done: (ended: WireObject, failed?: boolean) => void
}

interface SearchKind {
  readonly type: string
  readonly idPrefix: string
}

const webSearch: SearchKind = { type: 'web_search_call', idPrefix: 'ws' }
const fileSearch: SearchKind = { type: 'file_search_call', idPrefix: 'fs' }

/** Collects the deltas of one call. */
interface CallOutput {
  add(text: string): void
  finish(whole: boolean): void
}

/** The model's request for a search. It is not an output item itself; the search creates one. */
class SearchRequest implements SearchCall, CallOutput {
  readonly callId: string
  readonly name: string
  arguments = ''

  constructor(callId: string, name: string) {
    this.callId = callId
    this.name = name
  }

  add(text: string): void {
    this.arguments += text
  }

  finish(): void {}
}
