import { Parser } from 'htmlparser2'

type Handler = NonNullable<ConstructorParameters<typeof Parser>[0]>
type Options = ConstructorParameters<typeof Parser>[1]

/** Maximum depth of elements: the time that the parser needs for one more grows with the depth. */
const maxDepth = 100_000

/** Parses HTML or XML and calls the handler. @throws {Error} for elements that are nested too deeply. */
export const parseMarkup = (text: string, handler: Partial<Handler>, options: Options): void => {
  let depth = 0
  const parser = new Parser(
    {
      ...handler,
      onopentag: (name, attributes, isImplied) => {
        depth += 1
        if (depth > maxDepth) throw new Error('the elements are nested too deeply')
        handler.onopentag?.(name, attributes, isImplied)
      },
      onclosetag: (name, isImplied) => {
        depth -= 1
        handler.onclosetag?.(name, isImplied)
      },
    },
    options,
  )
  parser.end(text)
}
