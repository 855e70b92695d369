import { addressIn } from '../addresses.ts'
import type { Shell } from '../program-call.ts'
import { runCode } from '../run-code.ts'
import { isCredentialName, secretPlaceIn } from '../secret-places.ts'
import { sends } from '../sending.ts'
import { joined, nothing, type Trait, textValue, traitOf, traitsOf, type Value } from '../value.ts'
import type { World } from '../world.ts'
import { writesTo } from '../writes.ts'
import { codeWords, reverseShells } from './code-words.ts'
import { assembled, type SourceStatement, statementsOf, stringsIn } from './statements.ts'

type Language = 'python' | 'javascript' | 'other'

interface Context {
  readonly world: World
  readonly shell: Shell
  readonly input: Value
  /** Where the program stands in its file; absent when a command contains it. */
  readonly base?: number
}

const longest = 262_144

/**
 * Reads a program lightly, without running it: which variables hold what comes from the network, from secrets or from a
 * code, and which calls run, send or write that. Functions are read once before, since they may be used earlier.
 */
export const readCode = (language: Language, source: string, context: Context): Value => {
  const { world, shell } = context
  if (language === 'other') return otherCode(source, context)
  const statements = statementsOf(source.slice(0, longest), language).map(({ text, at }) => ({
    text: assembled(text).replace(condition, ''),
    at,
  }))
  const reader = new CodeReader(world, shell)
  if (evaluates.test(source) && codeWords.remote.test(source))
    world.report({ code: 'remote_code', message: 'Code from the network is run without being looked at.' })
  if (cloudLosses(source) > 1)
    world.report({ code: 'destructive_command', message: 'The program deletes data of a service with its backups.' })
  if (reverseShells.some((marks) => marks.every((mark) => mark.test(source))))
    world.report({ code: 'reverse_shell', message: 'The program opens a shell to another machine.' })
  for (const statement of statements) reader.learn(statement)
  for (const statement of statements) {
    if (context.base !== undefined) world.at = context.base + statement.at
    reader.judge(statement)
  }
  return textValue('', reader.printed)
}

/** A variable that is run as code in JavaScript. */
const evaluates =
  /(?<![.\w])eval\(\s{0,4}[A-Za-z_$][\w$.]{0,60}\s{0,4}\)|\bnew Function\(\s{0,4}[A-Za-z_$][\w$.]{0,60}\s{0,4}\)|\bvm\.run\w{0,20}\(\s{0,4}[A-Za-z_$]/u

const losses: readonly RegExp[] = [
  /\bobjects\.all\(\)\.delete\(|\bobject_versions\.(?:all\(\)\.)?delete\(/u,
  /SkipFinalSnapshot\s{0,2}[=:]\s{0,2}true|DeleteAutomatedBackups\s{0,2}[=:]\s{0,2}true/iu,
  /DeletionProtection\s{0,2}[=:]\s{0,2}false|Versioning\(\)\.suspend\(/iu,
  /\.buckets\.all\(\)|\blist_buckets\(/u,
  /\binstances\.(?:all\(\)\.)?terminate\(|\bterminate_instances\(/u,
  /\bdelete_(?:snapshot|backup|db_instance|db_cluster|volume|bucket|table|vault)\w{0,20}\(/u,
  /\bDROP\s{1,4}(?:DATABASE|SCHEMA)\b|\bdrop_database\(|\bdropDatabase\(|\bflushall\(/iu,
  /\bdeleteMany\(\s{0,2}(?:\{\s{0,2}\})?\s{0,2}\)|\bdelete_many\(\s{0,2}\{\s{0,2}\}/u,
]

/** Counts the ways in which a program deletes data of a service for good. */
const cloudLosses = (source: string): number => losses.filter((loss) => loss.test(source)).length

/** A program in a language that is not read: the commands in its texts count, and what it is given. */
const otherCode = (source: string, { world, shell, input }: Context): Value => {
  for (const [, text] of source.matchAll(
    /\b(?:system|exec|do shell script|shell_exec|passthru|os\.execute|IO\.popen|%x)\s{0,2}[({[]?\s{0,2}["'`]([^"'`\n]{3,2000})["'`]/gu,
  ))
    shell.run(text ?? '', world)
  if (/\b(?:eval|exec|iex|instance_eval)\b/u.test(source) && traitOf(input, 'remote', 'decoded') !== undefined)
    runCode.value(world, input)
  return textValue('', traitsOf([input, textValue('', placesIn(source))]))
}

const placesIn = (text: string): readonly Trait[] => {
  const place = secretPlaceIn(text)
  return place === undefined ? [] : [{ kind: 'secret', from: place }]
}

/** A condition before a statement of the same line. */
const condition =
  /^(?:\}?\s{0,8}else\s{1,4})?(?:if|while)\s{0,4}(?:\((?:[^()\n]|\([^()\n]{0,200}\)){1,1600}\)\s{0,4}|\([^\n]{0,200}\)\s(?=\w)|[^:\n({]{1,120}:\s{1,4})(?=\w)/u

const assignment =
  /^(?:export\s{1,4})?(?:const|let|var|global|async)?\s{0,4}(?:\{\s{0,4})?([A-Za-z_$][\w$]{0,63})(?:\s{0,2}:\s{0,2}[\w[\], .]{1,60})?(\s{0,2}(?:\[[^\]=]{1,80}\]|\.\w{1,40}){0,3})[\s}]{0,4}(?:[+|]?=)(?![=>])/u
const grown = /^([A-Za-z_$][\w$]{0,63})\.(?:append|push|update|extend|add|set|insert|setdefault)\(/u
const definition =
  /^(?:export\s{1,4})?(?:async\s{1,4})?(?:def|function)\s{1,4}([A-Za-z_$][\w$]{0,63})|^(?:const|let|var)\s{1,4}([A-Za-z_$][\w$]{0,63})\s{0,4}=\s{0,4}(?:async\s{0,4})?(?:\([^)]{0,200}\)|\w{1,40})\s{0,4}=>/u
const handle = /\bwith\s([^\n]{0,600})\bas\s{1,4}(\w{1,40})/u
const fileOf = /\bopen\(\s{0,4}([^,)]{1,400})/u
const looped =
  /^(?:async\s)?for\s{1,4}\(?(?:const|let|var)?\s{0,4}[([]?(\w{1,40})(?:\s{0,2},\s{0,2}(\w{1,40}))?[\])]?\s{1,4}(?:in|of)\s/u
const words = /[A-Za-z_$][\w$]{0,63}/gu

class CodeReader {
  readonly #world: World
  readonly #shell: Shell
  readonly #names = new Map<string, Value>()
  readonly #senders = new Set<string>()
  #current: string | null = null
  printed: readonly Trait[] = []

  constructor(world: World, shell: Shell) {
    this.#world = world
    this.#shell = shell
  }

  /** Notes what a statement gives a variable, and what a function does. */
  learn({ text }: SourceStatement): void {
    const [, plain, arrow] = definition.exec(text) ?? []
    if (plain !== undefined || arrow !== undefined) this.#current = plain ?? arrow ?? null
    const value = this.#valueOf(text)
    const [, opened, alias] = handle.exec(text) ?? []
    if (alias !== undefined)
      this.#names.set(alias, {
        text: this.#textOf(fileOf.exec(opened ?? '')?.[1] ?? opened ?? ''),
        traits: value.traits,
      })
    const [, one, two] = looped.exec(text) ?? []
    for (const name of [one, two]) if (name !== undefined) this.#names.set(name, value)
    const [, name, part] = assignment.exec(text) ?? []
    if (name !== undefined) this.#set(name, value, (part ?? '').trim() !== '' || /[+|]=/u.test(text.slice(0, 140)))
    const more = grown.exec(text)?.[1]
    if (more !== undefined) this.#set(more, value, true)
    if (this.#current !== null && /^(?:return|yield)\b/u.test(text))
      this.#set(this.#current, { text: '', traits: value.traits }, true)
    if (this.#current !== null && codeWords.sends.test(text)) this.#senders.add(this.#current)
  }

  /** Reports what a statement runs, sends, writes or removes. */
  judge(statement: SourceStatement): void {
    const { text } = statement
    if (!this.#world.step()) return
    const value = this.#valueOf(text)
    if (codeWords.runs.test(text)) runCode.value(this.#world, value)
    if (codeWords.shells.test(text)) this.#shelled(text, value)
    if (codeWords.sends.test(text) || this.#callsSender(text))
      sends(this.#world, this.#hostOf(text), sentBy(text, value))
    if (codeWords.writes.test(text) || codeWords.opens.test(text)) this.#written(text, value)
    if (replacesAccount.test(text) && traitOf(value, 'remote', 'decoded') !== undefined)
      this.#world.report({
        code: 'redirects_money',
        message: 'The account that money goes to is taken from the network.',
      })
    if (codeWords.removes.test(text)) this.#shell.run(`rm -rf ${this.#pathsOf(text).join(' ')}`, this.#world)
    if (/\b(?:print|console\.log|stdout\.write)\(/u.test(text))
      this.printed = traitsOf([value, textValue('', this.printed)])
    this.learn(statement)
  }

  #set(name: string, value: Value, isMore: boolean): void {
    const before = isMore ? (this.#names.get(name) ?? nothing) : nothing
    this.#names.set(name, { text: isMore ? before.text : value.text, traits: traitsOf([before, value]) })
  }

  #callsSender(text: string): boolean {
    for (const name of this.#senders) if (text.includes(`${name}(`) && !definition.test(text)) return true
    return false
  }

  /** Returns what a statement holds: its own sources, and the variables that it uses. */
  #valueOf(text: string): Value {
    const used: Value[] = []
    const right = text.replace(assignment, '')
    for (const [name] of right.matchAll(words)) {
      const known = used.length < 40 ? this.#names.get(name) : undefined
      if (known !== undefined && known.traits.length > 0) used.push(known)
    }
    const files = codeWords.opens.test(text) ? [] : stringsIn(right).flatMap((path) => this.#world.traitsAt(path))
    const all = traitsOf([textValue('', sourcesOf(right)), textValue('', files), ...used])
    // a key in a header lets the caller in, and is not what is sent
    return {
      text: this.#textOf(right),
      traits: showsKey(right) ? all.filter(({ kind }) => kind !== 'credential') : all,
    }
  }

  /** Returns the text of an expression: its strings, with variables whose text is known in their places. */
  #textOf(text: string): string {
    const found = stringsIn(text)
    if (found.length > 0) return found.map((each) => this.#filled(each)).join(' ')
    const named = [...text.matchAll(words)].slice(0, 12).flatMap(([name]) => this.#names.get(name)?.text ?? [])
    return named.filter((each) => each !== '').join(' ')
  }

  #filled(text: string): string {
    return text.replaceAll(
      /\$?\{\s{0,2}(\w{1,64})[^}\n]{0,40}\}/gu,
      (whole, name: string) => this.#names.get(name)?.text || whole,
    )
  }

  #hostOf(text: string): string {
    const own = addressIn(this.#textOf(text))
    if (own !== undefined) return own
    for (const [name] of text.matchAll(words)) {
      const address = addressIn(this.#names.get(name)?.text ?? '')
      if (address !== undefined) return address
    }
    return ''
  }

  #pathsOf(text: string): readonly string[] {
    const named = [...text.matchAll(words)].flatMap(([name]) => this.#names.get(name)?.text ?? [])
    return [...stringsIn(text), ...named]
      .filter((each) => each !== '' && each.length < 400 && !each.includes('\n'))
      .slice(0, 8)
  }

  #shelled(text: string, value: Value): void {
    const world = this.#world
    for (const path of this.#pathsOf(text)) if (world.traitsAt(path).length > 0) runCode.file(world, path)
    const list = /\[\s{0,4}(["'][\s\S]{0,4096})\]/u.exec(text)?.[1]
    const command =
      list === undefined || !/^["'][^"'\s]{0,200}["']/u.test(list)
        ? this.#filled(stringsIn(text)[0] ?? '')
        : this.#listed(list)
    // what comes from elsewhere is code when it is the command, and only data when it is an argument
    if (/^\s{0,8}(?:$|[${]|(?:(?:ba|z)?sh|python3?|node|pwsh|powershell)\s{1,4}-[ceC])/u.test(command))
      runCode.value(world, value)
    const printed = this.#shell.run(command, world)
    const name = assignment.exec(text)?.[1]
    if (name !== undefined) this.#set(name, printed, false)
    this.printed = traitsOf([printed, textValue('', this.printed)])
  }

  /** Returns the words of a list of arguments as a command. */
  #listed(list: string): string {
    const given = stringsIn(list).map((each) => this.#filled(each))
    return given
      .map((word) => (/^[\w./:=@%+,-]{1,200}$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
      .join(' ')
  }

  #written(text: string, value: Value): void {
    const opened = codeWords.opens.exec(text)?.[1]
    const alias =
      /^(\w{1,40})\.write/u.exec(text)?.[1] ?? /\bjson\.dump\([^\n]{1,200},\s{0,2}(\w{1,40})/u.exec(text)?.[1]
    const strings = stringsIn(text)
    const path =
      opened !== undefined
        ? this.#textOf(opened) || (this.#names.get(opened.trim())?.text ?? '')
        : ((alias === undefined ? undefined : this.#names.get(alias)?.text) ??
          strings[0] ??
          this.#pathsOf(text)[0] ??
          '')
    const kinds = value.traits.filter(({ kind }) => kind !== 'secret' || alias === undefined)
    const content = joined(
      [
        textValue(strings.map((each) => this.#filled(each)).join('\n')),
        textValue(this.#used(text)),
        { text: '', traits: kinds },
      ],
      '\n',
    )
    for (const each of pathsOf(path)) writesTo.file(this.#world, { path: each, content })
    if (/\burlretrieve\(/u.test(text))
      this.#world.write(strings.at(-1) ?? '', textValue('', [{ kind: 'remote', from: strings[0] ?? '' }]))
  }

  #used(text: string): string {
    return [...text.matchAll(words)]
      .flatMap(([name]) => this.#names.get(name)?.text ?? [])
      .join('\n')
      .slice(0, 8192)
  }
}

/** Returns the paths of a text: of a loop over several, each. */
const pathsOf = (text: string): readonly string[] => {
  const parts = text.split(' ').filter((each) => each !== '')
  return parts.length > 1 && parts.every((each) => /^[~./\w-]{3,200}$/u.test(each) && each.includes('/'))
    ? parts.slice(0, 12)
    : text === ''
      ? []
      : [text]
}

const sourcesOf = (text: string): readonly Trait[] => {
  const traits: Trait[] = [...placesIn(text)]
  if (codeWords.remote.test(text)) traits.push({ kind: 'remote', from: addressIn(text) ?? '' })
  if (codeWords.decoded.test(text)) traits.push({ kind: 'decoded', from: 'a code' })
  if (codeWords.environment.test(text)) traits.push({ kind: 'secret', from: 'the environment' })
  if (codeWords.watched.test(text)) traits.push({ kind: 'secret', from: 'what the user does' })
  if (codeWords.identity.test(text)) traits.push({ kind: 'identity', from: 'hostname' })
  if (codeWords.walked.test(text)) traits.push({ kind: 'workspace', from: 'all files of the user' })
  for (const match of text.matchAll(codeWords.variable)) {
    const name = match.slice(1).find((each) => each !== undefined) ?? ''
    if (isCredentialName(name) && !showsKey(text)) traits.push({ kind: 'credential', from: name })
  }
  return traits
}

/** A field of whom money goes to, which is given a value. */
const replacesAccount =
  /\b(?:iban|bic|wallet|payee|beneficiary|recipient|account_?number|routing_?number|payout|destination_?account)\w{0,12}["'\]]{0,2}\s{0,2}[=:](?!=)/iu

/** Whether a statement puts a key where a service expects it. */
const showsKey = (text: string): boolean =>
  /\bauthorization\b|\bBearer\b|\bx-[\w-]{0,20}(?:key|token)\b|\bapi[-_]key["']?\s{0,2}[:=,]|\bClient\(|\b(?:OpenAI|Anthropic|Octokit|WebClient|Stripe)\(/iu.test(
    text,
  ) && !/\b(?:json|data|body|files)\s{0,2}[=:]\s{0,2}[{\w]/u.test(text)

/** What a request carries, without a key in its headers, by which a caller is let in. */
const sentBy = (text: string, value: Value): Value => {
  const isShown = /\bheaders?\b|\bauth\b|\bauthorization\b|\bBearer\b|\bapi_?key\s{0,2}[=:]/iu.test(text)
  const isBody = /\b(?:json|data|body|params|files)\s{0,2}[=:]/u.test(text)
  const kept = value.traits.filter(({ kind }) => kind !== 'decoded' && !(kind === 'credential' && isShown && !isBody))
  return { text: value.text, traits: kept }
}
