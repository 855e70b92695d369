/** A language without its region, in lower case: `yo` of `yo-NG`. */
export const primaryLanguage = (language: string): string => language.split('-')[0]?.toLowerCase() ?? ''
