//! The transfer of a flow over its connection: the tasks of its two ends.

use std::net::SocketAddr;

use s2n_quic::client::Connect;
use s2n_quic::provider::io::testing::spawn;
use s2n_quic::stream::{ReceiveStream, SendStream};
use s2n_quic::{Client, Connection, Server};
use windlass_controllers::Time;

use super::clock::Clock;
use super::config::Error;
use super::ends::Ends;
use super::flow::{STREAM_STEP, Shared};
use crate::identity::SERVER_NAME;
use crate::payload::request;

impl Shared {
    /// The whole flow: waits for its start, makes its ends and has them do their work until
    /// `stop`.
    pub async fn live(self, ends: Ends, stop: Time, clock: Clock) {
        self.until(|flow| flow.starts.is_some()).await;
        let Some(start) = self.lock().starts.filter(|start| *start < stop) else { return };
        clock.wait(start).await;
        let made = ends.make(&self).map_err(|error| error.to_string());
        let (server, client, peer) = match made {
            Ok(made) => made,
            Err(reason) => return self.lock().fail(clock.now(), format!("its ends cannot be made: {reason}")),
        };
        self.lock().begin(clock.now());
        let answers = self.lock().answers;
        let of_receiver = self.clone();
        if answers {
            spawn(async move {
                let result = of_receiver.ask(client, peer, clock).await;
                of_receiver.lost("receiver", result, clock);
            });
            spawn(self.clone().stop(stop, clock));
            self.lost("sender", self.answer(server, clock).await, clock);
        } else {
            spawn(async move {
                let result = of_receiver.receive(server, clock).await;
                of_receiver.lost("receiver", result, clock);
            });
            spawn(self.clone().stop(stop, clock));
            self.lost("sender", self.send(client, peer, clock).await, clock);
        }
    }

    /// An end is done, with an error if its connection was lost.
    fn lost(&self, end: &str, result: Result<(), Error>, clock: Clock) {
        if let Err(reason) = result {
            self.lock().fail(clock.now(), format!("the {end} lost the connection: {reason}"));
        }
    }

    /// The client that sends.
    async fn send(&self, client: Client, peer: SocketAddr, clock: Clock) -> Result<(), Error> {
        let mut connection = client.connect(Connect::new(peer).with_server_name(SERVER_NAME)).await?;
        self.lock().connection = Some(connection.handle());
        let stream = connection.open_send_stream().await?;
        self.write(0, stream, clock).await?;
        self.until(|_| false).await;
        connection.close(0u32.into());
        Ok(())
    }

    /// Writes all there is on stream `number`, or until the flow is over.
    async fn write(&self, number: usize, mut stream: SendStream, clock: Clock) -> Result<(), Error> {
        loop {
            self.until(|flow| flow.wants(number)).await;
            if self.lock().over.is_some() {
                return Ok(());
            }
            let made = self.lock().make(number, clock.now());
            match made {
                Ok(chunk) if chunk.is_empty() => return Ok(stream.finish()?),
                Ok(chunk) => stream.send(chunk).await?,
                Err(next) => clock.wait(next).await,
            }
        }
    }

    /// The server that answers requests.
    async fn answer(&self, mut server: Server, clock: Clock) -> Result<(), Error> {
        let Some(mut connection) = server.accept().await else { return Ok(()) };
        let count = {
            let mut flow = self.lock();
            flow.connection = Some(connection.handle());
            if flow.has_video() { usize::MAX } else { flow.sent.len() }
        };
        for _ in 0..count {
            let Some(stream) = connection.accept_bidirectional_stream().await? else { return Ok(()) };
            let number = (stream.id() / STREAM_STEP) as usize;
            let (mut request, response) = stream.split();
            let of_stream = self.clone();
            spawn(async move {
                let result = async {
                    while request.receive().await?.is_some() {}
                    of_stream.write(number, response, clock).await
                }
                .await;
                of_stream.lost("sender", result, clock);
            });
        }
        self.until(|_| false).await;
        connection.close(0u32.into());
        Ok(())
    }

    /// The client that asks and receives.
    async fn ask(&self, client: Client, peer: SocketAddr, clock: Clock) -> Result<(), Error> {
        let mut connection = client.connect(Connect::new(peer).with_server_name(SERVER_NAME)).await?;
        let count = self.lock().sent.len();
        for number in 0..count {
            let (response, mut stream) = connection.open_bidirectional_stream().await?.split();
            stream.send(request(number as u32)).await?;
            stream.finish()?;
            let of_stream = self.clone();
            spawn(async move {
                let result = of_stream.read(number, response, clock).await;
                of_stream.lost("receiver", result, clock);
            });
        }
        if self.lock().has_video() {
            return self.play(connection, clock).await;
        }
        self.until(|_| false).await;
        Ok(())
    }

    /// Asks for a video, chunk after chunk, until the flow is over.
    async fn play(&self, mut connection: Connection, clock: Clock) -> Result<(), Error> {
        loop {
            // None is under way.
            let Some(next) = self.lock().next_chunk() else { return Ok(()) };
            clock.wait(next).await;
            if self.lock().over.is_some() {
                return Ok(());
            }
            let (response, mut stream) = connection.open_bidirectional_stream().await?.split();
            let Some(number) = self.lock().ask_for_chunk(clock.now()) else { return Ok(()) };
            stream.send(request(number as u32)).await?;
            stream.finish()?;
            self.read(number, response, clock).await?;
        }
    }

    /// The server that receives.
    async fn receive(&self, mut server: Server, clock: Clock) -> Result<(), Error> {
        let Some(mut connection) = server.accept().await else { return Ok(()) };
        match connection.accept_receive_stream().await? {
            Some(stream) => self.read(0, stream, clock).await,
            None => Ok(()),
        }
    }

    /// Reads stream `number` to its end; with the last the flow is over.
    async fn read(&self, number: usize, mut stream: ReceiveStream, clock: Clock) -> Result<(), Error> {
        while let Some(chunk) = stream.receive().await? {
            self.lock().receive(number, chunk, clock.now());
        }
        let mut flow = self.lock();
        flow.ended += 1;
        if flow.ended == flow.sent.len() && !flow.has_video() {
            flow.end(clock.now());
        }
        Ok(())
    }

    /// Ends the transfer at `stop`, where it is.
    async fn stop(self, stop: Time, clock: Clock) {
        clock.wait(stop).await;
        let connection = {
            let mut flow = self.lock();
            flow.end(clock.now());
            flow.connection.take()
        };
        if let Some(connection) = connection {
            connection.close(0u32.into());
        }
    }
}
