/** Returns the language without its region, in lower case: `yo` for `yo-NG`. */
export const primaryLanguage = (language: string): string => language.split('-')[0]?.toLowerCase() ?? ''
