/** What is known about a text while commands are read without being run. */
export type Trait = {
  /**
   * `remote`: came from the network. `unpacked`: stands in an archive or repository from the network. `decoded`: was
   * encoded before. `secret`: the content of a file or store of secrets. `credential`: the value of a variable that holds one.
   * `identity`: names the machine or its user. `workspace`: all files of a folder.
   */
  readonly kind: 'remote' | 'unpacked' | 'decoded' | 'secret' | 'credential' | 'identity' | 'workspace'
  /** The address, path, command or variable that it comes from. */
  readonly from: string
}

/** A text as far as it can be read, with its traits. */
export interface Value {
  readonly text: string
  readonly traits: readonly Trait[]
}

/** Maximum length of a value's text; the rest is dropped. */
const longest = 65_536
const maxTraits = 16

/** A value without content. */
export const nothing: Value = { text: '', traits: [] }

/** Returns a value of a known text. */
export const textValue = (text: string, traits: readonly Trait[] = []): Value => ({
  text: text.slice(0, longest),
  traits,
})

/** Returns values one after the other, with the traits of all. */
export const joined = (values: readonly Value[], between = ''): Value =>
  textValue(values.map(({ text }) => text).join(between), traitsOf(values))

/** Returns the traits of all values, each once. */
export const traitsOf = (values: readonly Value[]): readonly Trait[] => {
  const kept = new Map<string, Trait>()
  for (const trait of values.flatMap(({ traits }) => traits)) {
    if (kept.size < maxTraits) kept.set(`${trait.kind} ${trait.from}`, trait)
  }
  return [...kept.values()]
}

/** Returns the first trait of one of these kinds. */
export const traitOf = ({ traits }: Value, ...kinds: readonly Trait['kind'][]): Trait | undefined =>
  traits.find(({ kind }) => kinds.includes(kind))

/** Returns a value with another trait. */
export const withTrait = (value: Value, ...traits: readonly Trait[]): Value => ({
  ...value,
  traits: traitsOf([{ text: '', traits }, value]),
})
