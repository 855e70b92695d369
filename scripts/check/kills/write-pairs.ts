import { type Finding, lineAt, type SourceFile } from '../source-files.ts'
import { type Func, isFunc, type ProjectNames, projectNames } from './project-names.ts'
import { child, children, nameOf, type Syntax, within } from './syntax.ts'

/** Methods that write durably, by the type of their object. Blobs are named by their content, so they are left out. */
const writes: Readonly<Record<string, readonly string[]>> = {
  Table: ['insert', 'replace', 'change', 'notify', 'remove'],
  RecordResource: ['create', 'upsert', 'change', 'remove'],
  RecordStore: ['insert', 'insertMany', 'replace', 'remove', 'project', 'clear'],
  CommitStore: ['append', 'forget'],
  Host: ['create', 'deliver'],
}

/** The layers whose own work is to make writes safe, with tests that kill them (test/simulation, test/storage). */
const exempt = ['src/storage/', 'src/actors/runtime/', 'src/actors/records/']

/** Layers whose methods do not count as writes for their callers, other than those of `writes`. */
const helping = ['src/actors/runtime/']

/**
 * Finds functions that write twice in sequence, themselves or by what they call: a process that is killed in between
 * leaves a state that is half done. Put both into one record, derive one of them at read, or let the record's notices
 * deliver the second (specs/decisions/0074); otherwise declare in harmless-pairs.ts why the state in between is harmless.
 *
 * The types of objects are guessed by the names that the project declares them with, so a write through a name that is
 * declared with no type is missed.
 */
export const writePairFindings = (
  files: readonly SourceFile[],
  harmless: Readonly<Record<string, string>>,
): readonly Finding[] => {
  const names = projectNames(files)
  const calls = new Calls(names)
  const pairs = names.funcs.filter(
    (func) => !exempt.some((prefix) => func.file.path.startsWith(prefix)) && calls.sequence(func) > 1,
  )
  const found = new Set(pairs.map(keyOf))
  const stale = Object.keys(harmless).filter((key) => !found.has(key))
  return [
    ...pairs
      .filter((func) => harmless[keyOf(func)] === undefined)
      .map(({ file, name, at }) => ({
        path: file.path,
        line: lineAt(file.text, at),
        message: `${name} writes twice in sequence, and a kill in between leaves it half done: see ${list}`,
      })),
    ...stale.map((key) => ({ path: list, line: 1, message: `${key} does not write twice: remove its entry` })),
  ]
}

const list = 'scripts/check/kills/harmless-pairs.ts'
const keyOf = ({ file, name }: Func): string => `${file.path} ${name}`

/** Steps of a function's longest path: those on which it goes on, and those on which it ends. */
interface Path {
  readonly steps: number
  readonly ended: number
}

const none: Path = { steps: 0, ended: 0 }
const then = (a: Path, b: Path): Path => ({ steps: a.steps + b.steps, ended: Math.max(a.ended, a.steps + b.ended) })
const either = (a: Path, b: Path): Path => ({ steps: Math.max(a.steps, b.steps), ended: Math.max(a.ended, b.ended) })

/**
 * Whether the statements after a write handle its refusal: the next one returns if it was done, or the work is done
 * only if it was not. A refused write has written nothing.
 */
const endsOnSuccess = (attempt: Syntax, [after, ...later]: readonly Syntax[], text: string): boolean => {
  const name = nameOf(child(children(attempt, 'declarations')[0], 'id'))
  if (after === undefined || name === '') return false
  const next = text.slice(after.start, after.end)
  const starts = [`if (${name} !== null) return`, `if (${name} === null) await`, `if (${name} === null) {`]
  return (
    starts.some((start) => next.startsWith(start)) ||
    [after, ...later].some(({ start, end }) => text.slice(start, end).includes(`= ${name} ?? (`)) ||
    [after, ...later].some(({ start, end }) => text.slice(start, end).includes(`=\n        ${name} ?? (`))
  )
}

/** Whether a test holds for a write that was done, or for one that was refused; null for any other test. */
const doneBy = (test: Syntax | undefined, text: string): boolean | null => {
  const [, sign] =
    /^\(await [\s\S]*\) (!==|===) null$/.exec(test === undefined ? '' : text.slice(test.start, test.end)) ?? []
  return sign === undefined ? null : sign === '!=='
}

/** Counts writes along the paths of functions. */
class Calls {
  readonly #names: ProjectNames
  readonly #byName = new Map<string, Func[]>()
  readonly #writing = new Map<Func, boolean>()

  constructor(names: ProjectNames) {
    this.#names = names
    for (const func of names.funcs) {
      const key = func.owner === null ? `${func.file.path} ${func.name}` : `${func.owner} ${func.name}`
      this.#byName.set(key, [...(this.#byName.get(key) ?? []), func])
    }
  }

  /** Returns the most writes on a path of a function; a call of a function that writes counts as one. */
  sequence({ node, file, owner }: Func): number {
    if (helping.some((prefix) => file.path.startsWith(prefix))) return 0
    const path = this.#path(child(node, 'body'), { file, owner })
    return Math.max(path.steps, path.ended)
  }

  #writes(func: Func): boolean {
    const known = this.#writing.get(func)
    if (known !== undefined) return known
    this.#writing.set(func, false)
    const does = this.sequence(func) > 0
    this.#writing.set(func, does)
    return does
  }

  #path(node: Syntax | undefined, place: Pick<Func, 'file' | 'owner'>): Path {
    if (node === undefined || isFunc(node) || node.type === 'ClassDeclaration') return none
    const part = (field: string): Path => this.#path(child(node, field), place)
    const all = (nodes: readonly Syntax[]): Path =>
      nodes.reduce((sum, each) => then(sum, this.#path(each, place)), none)
    if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') {
      const [yes, no] = [part('consequent'), part('alternate')]
      const done = doneBy(child(node, 'test'), place.file.text)
      if (done === null) return then(part('test'), either(yes, no))
      return done ? either(then(part('test'), yes), no) : either(yes, then(part('test'), no))
    }
    if (node.type === 'LogicalExpression') return either(part('left'), part('right'))
    if (node.type === 'SwitchStatement')
      return then(
        part('discriminant'),
        children(node, 'cases')
          .map((each) => this.#path(each, place))
          .reduce(either, none),
      )
    if (node.type === 'TryStatement') return then(either(part('block'), part('handler')), part('finalizer'))
    if (node.type === 'ReturnStatement' || node.type === 'ThrowStatement') {
      const { steps, ended } = part('argument')
      return { steps: Number.NEGATIVE_INFINITY, ended: Math.max(steps, ended) }
    }
    if (/^(?:For|While|DoWhile|ForOf|ForIn)Statement$/.test(node.type)) {
      const { steps, ended } = all(within(node))
      return { steps: Math.max(0, Math.min(steps, 2)), ended }
    }
    if (node.type === 'BlockStatement') return this.#block(children(node, 'body'), place)
    if (node.type === 'CallExpression') return then(all(within(node)), this.#called(node, place))
    return all(within(node))
  }

  /**
   * The writes of statements in sequence. A write is an attempt when the next statement returns if it succeeded: where
   * the function goes on, nothing was written.
   */
  #block(statements: readonly Syntax[], place: Pick<Func, 'file' | 'owner'>): Path {
    return statements.reduce((sum, each, index) => {
      const path = this.#path(each, place)
      const isAttempt = path.steps === 1 && endsOnSuccess(each, statements.slice(index + 1), place.file.text)
      return then(sum, isAttempt ? { steps: 0, ended: Math.max(path.ended, 1) } : path)
    }, none)
  }

  /** The writes of a call itself, and of the functions that it is given. */
  #called(node: Syntax, place: Pick<Func, 'file' | 'owner'>): Path {
    const callee = child(node, 'callee')
    const given = children(node, 'arguments').filter(isFunc)
    const inner = given
      .map((func) => this.#path(child(func, 'body'), place))
      .map(({ steps, ended }) => Math.max(steps, ended))
    const max = Math.max(0, ...inner)
    const steps = (this.#isWrite(callee, place) ? 1 : 0) + max
    return { steps, ended: 0 }
  }

  /** Returns the types that the file declares a name with, otherwise those of the files that it imports from. */
  #typesOf(name: string, path: string): readonly string[] {
    const own = this.#names.types.get(`${path} ${name}`)
    if (own !== undefined) return [...own]
    return (this.#names.sources.get(path) ?? []).flatMap((from) => [
      ...(this.#names.types.get(`${from} ${name}`) ?? []),
    ])
  }

  #isWrite(callee: Syntax | undefined, { file, owner }: Pick<Func, 'file' | 'owner'>): boolean {
    const name = nameOf(callee)
    if (callee?.type === 'Identifier') {
      const target = this.#names.imports.get(`${file.path} ${name}`) ?? file.path
      return (this.#byName.get(`${target} ${name}`) ?? []).some((func) => this.#writes(func))
    }
    const object = nameOf(child(callee, 'object'))
    if (callee?.type !== 'MemberExpression' || object === '') return false
    const types = object === 'this' ? [owner ?? ''] : this.#typesOf(object, file.path)
    return types.some(
      (type) =>
        writes[type]?.includes(name) === true ||
        (!(type in writes) && (this.#byName.get(`${type} ${name}`) ?? []).some((func) => this.#writes(func))),
    )
  }
}
