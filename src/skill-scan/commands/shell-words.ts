import type { CommandArgument, ParameterExpansionPart, ParsedScript, Redirection, Word, WordPart } from 'unbash'
import { isCredentialName } from './secret-places.ts'
import { joined, nothing, type Trait, textValue, type Value } from './value.ts'
import type { World } from './world.ts'

/** Reads the commands of a substitution, and returns what they print. */
export type ReadInner = (script: ParsedScript | undefined) => Value

const homes = /^(?:\/root|\/(?:home|Users)\/[^/\s]{1,64}|\/home\/\$\{?USER\}?)(?=\/|$)/u

/** Returns what a word gives, with variables and substitutions replaced as far as they are known. */
export const wordValue = (word: Word, world: World, inner: ReadInner): Value => {
  const value = word.parts === undefined ? textValue(word.value) : partsValue(word.parts, world, inner)
  return homes.test(value.text) ? { ...value, text: value.text.replace(homes, '~') } : value
}

/** Returns what an argument gives. */
export const argumentValue = (argument: CommandArgument, world: World, inner: ReadInner): Value => {
  if (argument.type === 'Word') return wordValue(argument, world, inner)
  const value = argument.value.type === 'Word' ? wordValue(argument.value, world, inner) : textValue(argument.text)
  return { ...value, text: `${argument.name}=${value.text}` }
}

/** Returns the text that a here-document or here-string gives a command as its input. */
export const redirectedText = (redirect: Redirection, world: World, inner: ReadInner): Value | undefined => {
  if (redirect.type === 'HereString') return redirect.target && wordValue(redirect.target, world, inner)
  if (redirect.type !== 'HereDoc') return undefined
  const { parts, text } = redirect.body
  return parts === undefined ? textValue(text) : partsValue(parts, world, inner)
}

const partsValue = (parts: readonly WordPart[], world: World, inner: ReadInner): Value =>
  joined(parts.map((part) => partValue(part, world, inner)))

const partValue = (part: WordPart, world: World, inner: ReadInner): Value => {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return textValue(part.value)
    case 'DoubleQuoted':
    case 'LocaleString':
      return partsValue(part.parts, world, inner)
    case 'SimpleExpansion':
      return variable(part.text.replace(/^\$\{?|\}$/gu, ''), world)
    case 'ParameterExpansion':
      return expansion(part, world, inner)
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return inner(part.script)
    default:
      return textValue(part.text)
  }
}

const expansion = (part: ParameterExpansionPart, world: World, inner: ReadInner): Value => {
  const value = variable(part.parameter, world)
  const { operation } = part
  const isUnset = !world.variables.has(part.parameter)
  if (operation?.type === 'Default' && isUnset && operation.operator.endsWith('-'))
    return joined([wordValue(operation.operand, world, inner), { text: '', traits: value.traits }])
  if (part.prefix === '!') return variable(value.text, world)
  return value
}

/** Names of the machine and of who works on it. */
const identities: ReadonlySet<string> = new Set(['USER', 'HOSTNAME', 'LOGNAME', 'USERNAME', 'SUDO_USER'])

const variable = (name: string, world: World): Value => {
  const known = world.variables.get(name)
  if (known !== undefined) return known
  if (name === 'HOME') return textValue('~')
  if (name === 'IFS') return textValue(' ')
  const trait = variableTrait(name)
  return /^\w+$/u.test(name) ? textValue(`$${name}`, trait) : nothing
}

const variableTrait = (name: string): readonly Trait[] => {
  if (isCredentialName(name)) return [{ kind: 'credential', from: name }]
  return identities.has(name) ? [{ kind: 'identity', from: name }] : []
}
