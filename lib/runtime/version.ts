/** Hawser's version, as servers see it in the User-Agent; the package's own. */
export const VERSION = "0.1.0";
