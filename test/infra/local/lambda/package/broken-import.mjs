import "no-such-package";
export async function handler() {}
