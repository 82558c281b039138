// The other windows of one person in one browser: what one did to a task is told to the others.

// `heard` is called with what another window told. Where a browser has no channels, nothing is heard.
export function openTabs(name, heard) {
  if (typeof BroadcastChannel === "undefined") return () => {};
  const channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }) => heard(data);
  return (told) => channel.postMessage(told);
}
