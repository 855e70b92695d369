import {
  type Assignment,
  type Command,
  type CommandNode,
  forEachChild,
  type ParsedScript,
  type PipelineNode,
  parse,
  type Redirect,
  type Redirection,
  type Statement,
  type SyntaxNode,
} from 'unbash'
import type { Shell } from './program-call.ts'
import { runProgram } from './run-program.ts'
import { argumentValue, type ReadInner, redirectedText, wordValue } from './shell-words.ts'
import { joined, nothing, type Value } from './value.ts'
import type { World } from './world.ts'
import { writesTo } from './writes.ts'

/** Maximum length of a text that is read as commands at once; a longer one is read in parts. */
const longest = 24_576

/** Input of a command. */
interface Input {
  readonly value: Value
  readonly isGiven: boolean
}

const noInput: Input = { value: nothing, isGiven: false }

/**
 * Reads a text as commands of a shell, without running anything: variables, substitutions, pipes, redirections and
 * functions are followed, and each program says to the world what it would do. Returns what the commands print.
 */
export const readShell = (text: string, world: World, base: number | null = null): Value => {
  const reader = new ShellReader(world, base)
  return joined(piecesOf(text).map(([piece, at]) => reader.text(piece, at)))
}

/** Splits a long text at ends of lines. */
const piecesOf = (text: string): readonly (readonly [piece: string, at: number])[] => {
  const pieces: (readonly [string, number])[] = []
  for (let at = 0; at < text.length; ) {
    const end = at + longest >= text.length ? text.length : text.lastIndexOf('\n', at + longest) + 1
    const next = end > at ? end : Math.min(text.length, at + longest)
    pieces.push([text.slice(at, next), at])
    at = next
  }
  return pieces
}

class ShellReader {
  readonly #world: World
  /** Where the text stands in its file; null when it is made by other commands, whose place counts. */
  readonly #base: number | null
  readonly #functions = new Map<string, SyntaxNode>()
  #offset = 0

  constructor(world: World, base: number | null) {
    this.#world = world
    this.#base = base
  }

  text(piece: string, offset: number, input: Input = noInput): Value {
    this.#offset = offset
    let script: ParsedScript
    try {
      script = parse(piece)
    } catch (error) {
      // the parser gives up on texts that nest without end
      if (error instanceof RangeError) return nothing
      throw error
    }
    return this.#statements(script.commands, input)
  }

  #statements(statements: readonly Statement[], input: Input): Value {
    return joined(statements.map(({ command }) => this.#node(command, input)))
  }

  #node(node: PipelineNode | SyntaxNode, input: Input): Value {
    if (!this.#world.step()) return nothing
    return this.#world.within(() => this.#value(node, input))
  }

  #value(node: PipelineNode | SyntaxNode, input: Input): Value {
    switch (node.type) {
      case 'Command':
        return this.#command(node, input)
      case 'Pipeline':
        return this.#pipeline(node.commands, input)
      case 'Function':
        this.#functions.set(node.name.value, node.body)
        return nothing
      case 'For':
      case 'Select':
        this.#world.variables.set(
          node.name.value,
          joined(
            (node.wordlist ?? []).map((word) => this.#word(word)),
            ' ',
          ),
        )
        return this.#node(node.body, input)
      case 'Redirected': {
        const value = this.#node(node.command, this.#inputOf(node.redirects, input))
        return this.#redirected(value, node.redirects, false)
      }
      default:
        return this.#children(node, input)
    }
  }

  #children(node: SyntaxNode, input: Input): Value {
    const values: Value[] = []
    forEachChild(node, (child) => {
      if (child.type === 'Word') values.push({ text: '', traits: this.#word(child).traits })
      else values.push(this.#node(child, input))
    })
    return joined(values)
  }

  #pipeline(commands: readonly CommandNode[], input: Input): Value {
    let value = input.value
    for (const [index, command] of commands.entries())
      value = this.#node(command, index === 0 ? input : { value, isGiven: true })
    return value
  }

  #command(node: Command, outer: Input): Value {
    if (this.#base !== null) this.#world.at = this.#base + this.#offset + node.pos
    const input = this.#inputOf(node.redirects, outer)
    const set = node.prefix.filter((each): each is Assignment => each.type === 'Assignment')
    for (const each of set) this.#assign(each)
    if (node.name === undefined) return this.#redirected(nothing, node.redirects, false)
    const words = [this.#word(node.name), ...node.args.map((each) => argumentValue(each, this.#world, this.#inner))]
    const name = words[0]?.text ?? ''
    const body = this.#functions.get(name)
    if (body === undefined) return this.#redirected(this.#program(words, input), node.redirects, isShell.test(name))
    for (const [index, word] of words.entries()) this.#world.variables.set(String(index), word)
    return this.#redirected(this.#node(body, input), node.redirects, false)
  }

  #program(words: readonly Value[], { value, isGiven }: Input): Value {
    return runProgram(words, { world: this.#world, input: value, hasInput: isGiven }, shell)
  }

  #assign({ name, value, append, text }: Assignment): void {
    const { variables } = this.#world
    const given =
      value.type === 'Word'
        ? this.#word(value)
        : joined(
            value.elements.map((element) => this.#word(element)),
            ' ',
          )
    const before = append === true ? [variables.get(name) ?? nothing] : []
    variables.set(name, joined([...before, given]))
    if (/^(?:LD_PRELOAD|PROMPT_COMMAND|NODE_OPTIONS|PYTHONSTARTUP|BASH_ENV)$/u.test(name))
      writesTo.variable(this.#world, text)
  }

  #word(word: Parameters<typeof wordValue>[0]): Value {
    return wordValue(word, this.#world, this.#inner)
  }

  readonly #inner: ReadInner = (script) => {
    if (script === undefined || !this.#world.step()) return nothing
    return this.#world.within(() => this.#statements(script.commands, noInput))
  }

  #inputOf(redirects: readonly Redirection[], outer: Input): Input {
    for (const redirect of redirects) {
      const text = redirectedText(redirect, this.#world, this.#inner)
      if (text !== undefined) return { value: text, isGiven: true }
      if (redirect.type !== 'Redirect' || redirect.operator !== '<' || redirect.target === undefined) continue
      const { text: path, traits } = this.#word(redirect.target)
      return { value: writesTo.read(this.#world, path, traits), isGiven: true }
    }
    return outer
  }

  #redirected(value: Value, redirects: readonly Redirection[], runsShell: boolean): Value {
    const outputs = redirects.filter(
      (each): each is Redirect => each.type === 'Redirect' && each.operator.includes('>'),
    )
    for (const { target } of outputs) {
      if (target !== undefined) writesTo.file(this.#world, { path: this.#word(target).text, content: value, runsShell })
    }
    return outputs.some(({ descriptor }) => descriptor === undefined) ? { ...value, text: '' } : value
  }
}

const isShell = /^(?:\/(?:usr\/)?bin\/)?(?:ba|z|da|k)?sh$/u

export const shell: Shell = {
  run: (text, world, input) =>
    world.within(() => (input === undefined ? readShell(text, world) : readWith(text, world, input))),
  call: (words, from) => from.world.within(() => runProgram(words, from, shell)),
}

const readWith = (text: string, world: World, value: Value): Value =>
  new ShellReader(world, null).text(text.slice(0, longest), 0, { value, isGiven: true })
