/** Name for the components of an operation whose schemas have no title: `sessions.create` gives `SessionsCreate…`. */
export const titleOf = (id: string): string =>
  id
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
